import { addPublished, type Place } from './published-secrets.ts'
import { isSensitiveField, isSensitiveName, isSensitiveParameter, needsValue } from './secret-names.ts'

const mostKept = 1000
/** As long as most stacks, which an error has in its line of the log. */
const longestKept = 2000

/** Texts without secrets, since most texts of a request occur in earlier ones too. */
const harmless = new Set<string>()

/** The places of secrets in a text, found by their form or by the name beside them. Sorted, without overlaps. */
export function findSecrets(text: string): readonly Place[] {
  if (harmless.has(text)) return []
  const places = searchSecrets(text)
  if (places.length > 0 || text.length > longestKept) return places
  if (harmless.size >= mostKept) harmless.clear()
  harmless.add(text)
  return places
}

/** Like findSecrets, without remembering texts that have none. */
export function searchSecrets(text: string): readonly Place[] {
  const places: Place[] = []
  addPublished(text, places)
  addNamed(text, places)
  return places.length < 2 ? places : united(places)
}

/** Sorts places, and merges those that overlap. */
function united(places: Place[]): Place[] {
  places.sort((one, other) => one[0] - other[0])
  const result: Place[] = []
  for (const place of places) {
    const last = result.at(-1)
    if (last === undefined || place[0] >= last[1]) result.push(place)
    else result[result.length - 1] = [last[0], Math.max(last[1], place[1])]
  }
  return result
}

/**
 * A sign with the name before it and the name's closing quote: `token=`, `"token": `, `token =>`, `token%3D`. The
 * lookbehind is bounded by the longest name, so that matching takes linear time.
 */
const naming = /(=>|[:=]|%(?:25){0,2}3[ad])(?<=([\w.[\]%-]{1,60})((?:\\{0,15}["'`]|%2[27])?)(\s{0,4})\1)/gi

/** An XML element with its text or CDATA section. */
const element = /<(?:\w{1,30}:)?([\w.-]{1,60})(?:\s[^<>]{0,300})?>(?:<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)|([^<]+))/g

/** MySQL's `identified by 'secret' replace 'old'` and `set password = 'secret'`, PostgreSQL's `password $$secret$$`. */
const dollars = /\$(?:[a-z_]\w{0,20})?\$/iy
const blank = String.raw`(?:\s|/\*[^*]{0,99}\*/){1,9}`
const credentials = new RegExp(
  [
    String.raw`\b(?:identified${blank}(?:(?:with|via)${blank}[\w-]{1,60}${blank})?(?:by|as|using)${blank}`,
    String.raw`|(?<=\bidentified\b[^;]{1,300}["']\s{1,9})replace${blank}`,
    String.raw`|set${blank}password(?:${blank}for${blank}[^\s=]{1,99})?\s{0,9}=\s{0,9}|password${blank})`,
    String.raw`(?:password\s{0,9}\(?\s{0,9})?(?:e(?='))?(?=\\{0,15}["']|${dollars.source})`,
  ].join(''),
  'gi',
)

/** MySQL's `Duplicate entry 'secret' for key 'users.api_token'`. */
const duplicate = "Duplicate entry '"
const ofKey = "' for key '"
const keyName = /[\w.-]{0,99}/y

/** PostgreSQL's `Key (lower(api_token))=(secret) already exists`, and `Failing row contains (…)`, without columns. */
const detail = /\)=\((?<=\(([^()]{0,300}(?:\([^()]{0,99}\)[^()]{0,99})?)\)=\()|Failing row contains \(/g
const upToParenthesis = /[^)]{0,64}/y
const restOfDetail = /[\s\S]*?(?=\)(?: (?:already|is|conflicts) |[. ]?(?:["'\\\n»«”]|$))|$)/y

/** Values that stand for a missing one, and SQL placeholders. */
const noSecret = /^(?:|null|undefined|true|false|none|\$\d+|\?|[:@]\w+|\[masked\]?)$/i

/** `tokens=5` and `auth=required` contain no secret. But a password may be a word, and a card's CVV three digits. */
const statement = /^(?:[A-Za-z][a-z]{0,7}|\d{1,3})$/
const chosen = /pass|pw|kennwort|contrase|senha|secret|credential|cv[vc]|otp/i

/** `session.ts:12:34` is a position in a file. */
const fileName = /\.[a-z]{1,4}$/i
const position = /^\d+(?:(?::|%(?:25){0,2}3a)\d+)?$/i

const query = /(?:[?&#]|%(?:25){0,2}(?:3f|26|23))$/i
const opening = /(\\{0,15})(["'`])|%2[27]/y
const gap = /\s{0,8}/y
const bare = /(?:(?:Bearer|Basic|Digest|Negotiate|Token|ApiKey)\s{1,4})?[^\s&#;"'`<>,)}\]\\=][^\s&#;"'`<>,)}\]\\]*/iy
const bareEncoded = /(?:[^\s&#;"'`<>,)}\]\\%]|%(?!(?:25){0,2}(?:2[236]|3b|0a|7d|5d)))+/iy
/** Cookie and Authorization headers, whose values contain spaces and quoted parts. */
const line = /(?:=\\{0,15}"[^"\r\n]*"|[^\r\n"'<>])+/y
const spacious = /cookie|authorization|authentication-info/i

/** A value is judged by its beginning. In `key=key=key=` each value contains the next, which takes quadratic time. */
const longestJudged = 64

/** Adds the places of values with a sensitive name: in queries, forms, JSON, headers, SQL, database errors and XML. */
function addNamed(text: string, places: Place[]): void {
  if (/[:=%]/.test(text)) addSigned(text, places)
  if (/["'$]/.test(text)) addCredentials(text, places)
  if (text.includes(ofKey)) addDuplicates(text, places)
  if (text.includes(')=(') || text.includes('row contains (')) addDetails(text, places)
  if (text.includes('</') || text.includes('<![')) addElements(text, places)
}

function addSigned(text: string, places: Place[]): void {
  let end = 0
  for (const { index, 0: sign, 2: found = '', 3: quote = '', 4: space = '' } of text.matchAll(naming)) {
    if (index < end) continue
    const name = plainName(found)
    if (!isSensitiveName(name) && !needsValue(name)) continue
    const at = behindGap(text, index + sign.length)
    // `token => token.id` is a function.
    if (sign === '=>' && quote === '' && matchAt(opening, text, at) === null) continue
    // `token://` is a URL.
    if (text.startsWith('//', at)) continue
    // A secret `key` or `code` is a string.
    if (!isSensitiveName(name) && /[[{]/.test(text.charAt(at))) continue
    const start = valueAt(text.slice(0, at + longestJudged), at, name, sign)
    const value = text.slice(...start)
    const before = index - space.length - quote.length - name.length
    const isParameter = query.test(text.slice(Math.max(0, before - 7), before))
    const isSecret = isParameter ? isSensitiveParameter(name, value) : isSensitiveField(name, value)
    if (!isSecret || noSecret.test(value) || (fileName.test(name) && position.test(value))) continue
    const isQuoted = start[0] > at
    // `a.key = b.key` and `"a"."key" = "b"."key"` compare columns.
    const isColumn = isQuoted ? text.startsWith('"."', start[1]) : value.endsWith(`.${name.replace(/^.*\./, '')}`)
    if (sign === '=' && isColumn) continue
    const isBare = quote === '' && !isQuoted && !sign.startsWith('%') && text[start[1]] !== '&'
    if (isBare && !isParameter && statement.test(value) && !chosen.test(name)) continue
    const place = valueAt(text, at, name, sign)
    places.push(place)
    end = place[1]
  }
}

function addCredentials(text: string, places: Place[]): void {
  for (const { index, 0: words } of text.matchAll(credentials)) {
    const at = index + words.length
    const quote = textAt(dollars, text, at)
    const from = at + quote.length
    places.push(quote === '' ? valueAt(text, at, '', '') : [from, indexOrEnd(text, quote, from)])
  }
}

function addDuplicates(text: string, places: Place[]): void {
  let start = text.indexOf(duplicate)
  while (start !== -1) {
    const from = start + duplicate.length
    const to = text.indexOf(ofKey, from)
    if (to === -1) return
    if (isSensitiveField(textAt(keyName, text, to + ofKey.length), text.slice(from, to))) places.push([from, to])
    start = text.indexOf(duplicate, to)
  }
}

function addDetails(text: string, places: Place[]): void {
  let end = 0
  for (const { index, 0: sign, 1: columns } of text.matchAll(detail)) {
    if (index < end) continue
    const from = index + sign.length
    const value = textAt(upToParenthesis, text, from)
    if (columns?.split(/\W+/).some(column => isSensitiveField(column, value)) === false) continue
    end = from + textAt(restOfDetail, text, from).length
    places.push([from, end])
  }
}

function addElements(text: string, places: Place[]): void {
  for (const { index, 0: whole, 1: name = '', 2: section, 3: content = '' } of text.matchAll(element)) {
    const value = section ?? content
    if (!isSensitiveField(name, value)) continue
    const to = index + whole.length - (section !== undefined && whole.endsWith(']]>') ? 3 : 0)
    places.push([to - value.length, to])
  }
}

/** Decodes the brackets of a name in a URL, and removes everything up to another encoded character. */
function plainName(name: string): string {
  return name.includes('%') ? name.replace(/%5[bd]/gi, '.').replace(/^.*%(?:25)*[\da-f]{2}/i, '') : name
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function textAt(pattern: RegExp, text: string, at: number): string {
  return matchAt(pattern, text, at)?.[0] ?? ''
}

function behindGap(text: string, at: number): number {
  gap.lastIndex = at
  gap.test(text)
  return gap.lastIndex
}

function valueAt(text: string, at: number, name: string, sign: string): Place {
  const open = matchAt(opening, text, at)
  if (open !== null) {
    const { 0: delimiter, 1: backslashes = '', 2: quote } = open
    const from = at + delimiter.length
    if (quote === undefined) return [from, indexOrEnd(text, delimiter, from)]
    return [from, endOfQuoted(text, from, quote, backslashes.length)]
  }
  if ((sign === ':' || sign === '=>') && /[[{]/.test(text.charAt(at))) return [at, endOfStructure(text, at)]
  const pattern = sign === ':' && spacious.test(name) ? line : sign.startsWith('%') ? bareEncoded : bare
  return [at, at + textAt(pattern, text, at).length]
}

function indexOrEnd(text: string, wanted: string, from: number): number {
  const index = text.indexOf(wanted, from)
  return index === -1 ? text.length : index
}

/**
 * Finds the end of a quoted text, before its closing quote and that quote's own backslashes. JSON in JSON has one
 * backslash before its quotes, the next level three. Escaped quotes within the text have more.
 */
function endOfQuoted(text: string, from: number, quote: string, backslashes: number): number {
  const triple = quote.repeat(2)
  if (backslashes === 0 && text.startsWith(triple, from)) return indexOrEnd(text, triple + quote, from + 2)
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let start = at
    while (start > from && text[start - 1] === '\\') start--
    // SQL doubles a quote within the text.
    if (quote === "'" && backslashes === 0 && text[at + 1] === quote) at++
    else if ((at - start) % (2 * (backslashes + 1)) === backslashes) return at - backslashes
  }
  return text.length
}

const structural = /[[\]{}]|(\\{0,15})"/g

function endOfStructure(text: string, from: number): number {
  let depth = 0
  structural.lastIndex = from
  for (let match = structural.exec(text); match !== null; match = structural.exec(text)) {
    const [found, backslashes] = match
    if (backslashes !== undefined) {
      structural.lastIndex = endOfQuoted(text, structural.lastIndex, '"', backslashes.length) + found.length
    } else if (found === '[' || found === '{') depth++
    else if (--depth === 0) return structural.lastIndex
  }
  return text.length
}
