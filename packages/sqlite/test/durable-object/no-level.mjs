export class ClassicLevel {}
