const strings = /'(?:[^']|'')*'/g
const numbers = /(?<![\w$.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)/gi
const placeholders = /\$\d+|(?<=[\s(,=<>])[:@]\w+/g
const lists = /\(\s*\?(?:\s*,\s*\?)+\s*\)/g
const rows = /(\(\?\))(?:\s*,\s*\(\?\))+/g

/** A statement without its values: literals and placeholders become ?, and lists of them one. */
export function statementShape(sql: string): string {
  return sql
    .replace(strings, '?')
    .replace(placeholders, '?')
    .replace(numbers, '?')
    .replace(lists, '(?)')
    .replace(rows, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}
