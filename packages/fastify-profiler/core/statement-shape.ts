import { createHash } from 'node:crypto'
import { remember } from './bounds.ts'

/** A value in a statement with its cast: a text, a placeholder, or a number. */
const values =
  /(?:\be'(?:''|\\.|[^'\\])*'|'(?:[^']|'')*'|\$\d+|\?|(?<=[\s(,=<>])[:@]\w+|(?<![\w$.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w))(?:::"?[\w.]+"?(?:\(\d+(?:,\s*\d+)?\))?(?:\[\])?)*/gis
const row = /\(\s*\?(?:\s*,\s*\?)*\s*\)/.source
const groups = new RegExp(`${row}(?:\\s*,\\s*${row})*|\\[\\s*\\?(?:\\s*,\\s*\\?)*\\s*\\]|\\?`, 'g')
/** Characters before a value that tell whether it is one of a list. */
const longestBefore = 20
const beforeList = /\b(?:in|any|all|some|array)\s*$/i

/** Where one question mark of a shape gets its values from. */
interface Slot {
  /** The position of a parameter, or else a literal or the name of a parameter, as it is written. */
  sources: ReadonlyArray<number | string>
  /** Whether these are several values for one place, such as those of IN, or several rows. */
  isList: boolean
}

interface StatementShape {
  /** The statement without its values: literals and placeholders are ?, lists and rows of them are one. */
  shape: string
  /** One for each question mark. */
  slots: readonly Slot[]
}

/** Reads a statement without its values, and where they are. */
export const readShape = remember((sql): StatementShape => {
  const all: Array<number | string> = []
  let position = 0
  const plain = sql.replace(values, found => {
    const value = withoutCast(found)
    if (value === '?') all.push(position++)
    else all.push(/^\$\d/.test(value) ? Number(value.slice(1)) - 1 : value)
    return '?'
  })
  const slots: Slot[] = []
  let first = 0
  const shape = plain
    .replace(groups, (found: string, offset: number) => {
      const sources = all.slice(first, (first += found.split('?').length - 1))
      const rows = found.split('(').length - 1
      const isList =
        sources.length > 1 &&
        (rows > 1 || found.startsWith('[') || beforeList.test(plain.slice(Math.max(0, offset - longestBefore), offset)))
      slots.push({ sources, isList })
      if (found === '?') return found
      return found.startsWith('[') ? '[?]' : '(?)'
    })
    .replace(/\s+/g, ' ')
    .trim()
  return { shape, slots }
})

function withoutCast(value: string): string {
  const start = value.indexOf('::', value.lastIndexOf("'") + 1)
  return start === -1 ? value : value.slice(0, start)
}

/** A statement without its values: literals and placeholders become ?, and lists of them one. */
export function statementShape(sql: string): string {
  return readShape(sql).shape
}

const longestWhole = 200
const headKept = 140
const tailKept = 60
const fingerprintForm = /… #[a-z]+ …/i

/** A shape for a list. Of a long one both ends are kept, with a fingerprint of the whole, since many begin alike. */
export const shortenShape = remember((shape): string => {
  if (shape.length <= longestWhole) return shape
  // Letters only, and no digits cut off a name: a search would take them for values.
  const fingerprint = createHash('sha256')
    .update(shape)
    .digest('base64')
    .replace(/[^a-z]/gi, '')
    .slice(0, 8)
  const tail = shape.slice(-tailKept).replace(/^[\w$.]+/, '')
  return `${shape.slice(0, headKept)}… #${fingerprint} …${tail}`
})

/** The two ends of a shortened shape; null for one that is whole. */
export function endsOf(shape: string): [head: string, tail: string] | null {
  const [head = '', tail] = shape.split(fingerprintForm)
  return tail === undefined ? null : [head, tail]
}
