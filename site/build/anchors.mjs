/**
 * Returns the anchor of a heading as hosts of repositories make it, so that a link such as
 * `errors#kw_unique_constraint` leads to the same place in the repository and on the site.
 */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}
