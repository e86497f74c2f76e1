import { isSensitiveName, isSensitiveParameter } from './sensitive-names.ts'

/** A place in a text: from the first character to the one behind the last. */
export type Place = readonly [from: number, to: number]

/**
 * Where a text gives secrets away by its form: a value beside a name that says what it is, in a query, in JSON (as
 * it stands within other JSON, too), in XML, GraphQL or a sentence; credentials with their scheme; web tokens;
 * passwords in URLs. In order, and none within another.
 *
 * Each pattern begins at a sign and looks back from there no further than a name is long, so that no text takes
 * longer than its length allows.
 */
export function findSecrets (text: string): Place[] {
  const places: Place[] = []
  if (text.includes(':') || text.includes('=') || text.includes('%')) addNamed(text, places)
  if (text.includes('://')) addFrom(text.matchAll(userInfo), places)
  if (text.includes('</')) addElements(text, places)
  if (text.includes(' ')) addFrom(text.matchAll(scheme), places)
  if (text.includes('eyJ')) addFrom(text.matchAll(webToken), places)
  return places.length < 2 ? places : united(places)
}

/** A sign, and before it a name, the quote at the name's end, and space. */
const naming = /([:=]|%(?:25){0,2}3[ad])(?<=([\w.[\]%-]{1,60})((?:\\{0,15}["'`]|%2[27])?)(\s{0,4})\1)/gi
const userInfo = /(?<=[a-z][\w+.-]{0,20}:\/\/[^\s:/@]{0,100}:)[^\s@/]{1,1000}(?=@)/gi
const scheme = /(?<=\b(?:Bearer|Basic|Digest|Negotiate)\s{1,4})[\w.~+/=-]{6,}/gi
// Half a token is one, too: it may be where the text was cut.
const webToken = /(?<![\w-])eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/g

/** What only says that there is no value, and what stands in place of one in SQL. */
const noSecret = /^(?:null|undefined|true|false|none|\$\d+|\?|[:@]\w+|\[masked\]?)$/i

function addFrom (matches: Iterable<RegExpMatchArray>, places: Place[]): void {
  for (const { index = 0, 0: whole } of matches) places.push([index, index + whole.length])
}

function addNamed (text: string, places: Place[]): void {
  let end = 0
  for (const { index, 0: sign, 2: found = '', 3: quote = '', 4: space = '' } of text.matchAll(naming)) {
    if (index < end) continue
    const name = plainName(found)
    const isCode = /^code$/i.test(name)
    if (!isCode && !isSensitiveName(name)) continue
    const before = text.slice(Math.max(0, index - space.length - quote.length - name.length - 3), index - space.length - quote.length - name.length)
    if (isCode && (sign === ':' || !/(?:[?&#;]|%(?:3f|26|23))$/i.test(before))) continue
    const place = valueAfter(text, index + sign.length, name, sign)
    if (place === null) continue
    const value = text.slice(...place)
    if (noSecret.test(value) || !isSensitiveParameter(name, value)) continue
    places.push(place)
    end = place[1]
  }
}

/** A name as it stands in a URL: without brackets that are encoded, and without what is encoded before it. */
function plainName (name: string): string {
  return name.includes('%') ? name.replace(/%5[bd]/gi, '.').replace(/^.*%(?:25)*[\da-f]{2}/i, '') : name
}

const gap = /\s{0,8}/y
const opening = /(\\{0,15})(["'`])|%2[27]/y
const bare = /(?:(?:Bearer|Basic|Digest|Negotiate|Token|ApiKey)\s{1,4})?[^\s&#;"'`<>,)}\]\\=][^\s&#;"'`<>,)}\]\\]*/iy
const bareEncoded = /(?:[^\s&#;"'`<>,)}\]\\%]|%(?!(?:25){0,2}(?:2[236]|3b|0a|7d|5d)))+/iy
const line = /[^\r\n"'<>]+/y

function matchAt (pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** The place of the value after a name's sign; null where there is none. */
function valueAfter (text: string, behind: number, name: string, sign: string): Place | null {
  gap.lastIndex = behind
  gap.test(text)
  const at = gap.lastIndex
  const open = matchAt(opening, text, at)
  if (open !== null) {
    const { 0: delimiter, 1: backslashes = '', 2: quote } = open
    const from = at + delimiter.length
    const to = quote === undefined ? indexOrEnd(text, delimiter, from) : endOfQuoted(text, from, quote, backslashes.length)
    // `"a"."key" = "b"."key"`: a column.
    return sign === '=' && text.startsWith('."', to + 1) ? null : [from, to]
  }
  if (sign === ':' && /[[{]/.test(text.charAt(at))) return [at, endOfStructure(text, at)]
  // The values of these have spaces of their own.
  const pattern = sign === ':' && /cookie|authorization/i.test(name) ? line : sign.startsWith('%') ? bareEncoded : bare
  const value = matchAt(pattern, text, at)
  // A URL, and a column of the same name: `a.key = b.key`.
  if (value === null || value[0].startsWith('//') || (sign === '=' && at > behind && value[0].endsWith(`.${name.replace(/^.*\./, '')}`))) return null
  return [at, at + value[0].length]
}

function indexOrEnd (text: string, wanted: string, from: number): number {
  const index = text.indexOf(wanted, from)
  return index === -1 ? text.length : index
}

/**
 * Where a quoted text ends, before its closing quote with the backslashes that belong to that. JSON in JSON has one
 * before its quotes, and one level deeper three: what is escaped within has more.
 */
function endOfQuoted (text: string, from: number, quote: string, backslashes: number): number {
  const triple = quote.repeat(2)
  if (backslashes === 0 && text.startsWith(triple, from)) return indexOrEnd(text, triple + quote, from + 2)
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let start = at
    while (start > from && text[start - 1] === '\\') start--
    if ((at - start) % (2 * (backslashes + 1)) === backslashes) return at - backslashes
  }
  return text.length
}

const structural = /[[\]{}]|(\\{0,15})"/g

/** Where an array or an object ends, which begins here. */
function endOfStructure (text: string, from: number): number {
  let depth = 0
  structural.lastIndex = from
  for (let match = structural.exec(text); match !== null; match = structural.exec(text)) {
    const [found, backslashes] = match
    if (backslashes !== undefined) structural.lastIndex = endOfQuoted(text, structural.lastIndex, '"', backslashes.length) + found.length
    else if (found === '[' || found === '{') depth++
    else if (--depth === 0) return structural.lastIndex
  }
  return text.length
}

const startTag = /<([\w.:-]{1,60})(?:\s[^<>]{0,300})?>/g
const section = '<![CDATA['

function addElements (text: string, places: Place[]): void {
  let end = 0
  for (const { index, 0: tag, 1: name = '' } of text.matchAll(startTag)) {
    const from = index + tag.length
    if (from < end || !isSensitiveName(name.replace(/^.*:/, ''))) continue
    end = text.startsWith(section, from) ? indexOrEnd(text, ']]>', from) : indexOrEnd(text, '<', from)
    if (end > from) places.push([from, end])
  }
}

/** In order, those that overlap made one. */
function united (places: Place[]): Place[] {
  places.sort((one, other) => one[0] - other[0])
  const result: Place[] = []
  for (const place of places) {
    const last = result.at(-1)
    if (last === undefined || place[0] >= last[1]) result.push(place)
    else result[result.length - 1] = [last[0], Math.max(last[1], place[1])]
  }
  return result
}
