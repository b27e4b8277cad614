/** Formats a time: `2026-07-01 12:00:00`, in the time zone of the browser. */
export function timeText(time: Date): string {
  const part = (value: number) => String(value).padStart(2, "0");
  const date = [time.getFullYear(), part(time.getMonth() + 1), part(time.getDate())].join("-");
  return `${date} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(part).join(":")}`;
}
