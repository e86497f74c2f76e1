import { isPair, isPlainName } from './field-names.ts'
import { isSensitiveName, isSensitiveParameter } from './sensitive-names.ts'

/** A place in a text: from the first character to the one behind the last. */
export type Place = readonly [from: number, to: number]

/**
 * Where a text gives secrets away by its form: a value beside a name that says what it is, in a query, in JSON (as
 * it stands within other JSON, too), in XML, GraphQL, a command or a sentence; credentials with their scheme; web
 * tokens; passwords in URLs; private keys. In order, and none within another.
 *
 * Each pattern begins at a sign and looks back from there no further than a name is long, so that no text takes
 * longer than its length allows.
 */
export function findSecrets (text: string): Place[] {
  const places: Place[] = []
  if (text.includes(':') || text.includes('=') || text.includes('%')) addNamed(text, places)
  if (text.includes('://') && text.includes('@')) addUserInfo(text, places)
  if (text.includes('<')) addElements(text, places)
  if (text.includes(' ')) addFrom(text.matchAll(scheme), places)
  if (text.includes(' --') || text.startsWith('--')) addOptions(text, places)
  if (text.includes(' is ') || text.includes(' was ')) addSentences(text, places)
  if (text.includes('",') || text.includes("',")) addPairs(text, places)
  if (text.includes('PRIVATE KEY-----')) addPrivateKeys(text, places)
  if (text.includes('eyJ')) addFrom(text.matchAll(webToken), places)
  return places.length < 2 ? places : united(places)
}

/** A sign, and before it a name, the quote at the name's end, and space. */
const naming = /(=>|[:=]|%(?:25){0,2}3[ad])(?<=([\w.[\]%-]{1,60})((?:\\{0,15}["'`]|%2[27])?)(\s{0,4})\1)/gi
const scheme = /(?<=\b(?:Bearer|Basic|Digest|Negotiate)\s{1,4})[\w.~+/=-]{6,}/gi
// Half a token is one, too: it may be where the text was cut.
const webToken = /(?<![\w-])eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/g

/** What only says that there is no value, and what stands in place of one in SQL. */
const noSecret = /^(?:null|undefined|true|false|none|\$\d+|\?|[:@]\w+|\[masked\]?)$/i

function addFrom (matches: Iterable<RegExpMatchArray>, places: Place[]): void {
  for (const { index = 0, 0: whole } of matches) places.push([index, index + whole.length])
}

/** A name, which its value follows under a name that only says so: `name: 'password', value: '…'`. */
const pairNaming = /\s{0,4}(\\{0,15}["'`]?)([\w.-]{1,60})\1\s{0,4},\s{0,4}(?:\\{0,15}["'`])?(?:value|val|content)(?:\\{0,15}["'`])?\s{0,4}[:=]/iy
const pairName = /^(?:name|key|field|header|param(?:eter)?|property)$/i

/** What only a text says that hands over OAuth's `code`. */
const grant = /grant_?type|redirect_?uri/i

function addNamed (text: string, places: Place[]): void {
  let end = 0
  let isGrant: boolean | null = null
  for (const { index, 0: sign, 2: found = '', 3: quote = '', 4: space = '' } of text.matchAll(naming)) {
    if (index < end) continue
    const name = plainName(found)
    const pair = pairName.test(name) ? matchAt(pairNaming, text, index + sign.length) : null
    const [whole = '', , given = ''] = pair ?? []
    if (isPlainName(given)) {
      const from = index + sign.length + whole.length
      const value = isSensitiveName(given) ? valueAfter(text, from, given, ':') : null
      end = value?.[1] ?? from
      if (value !== null && !noSecret.test(text.slice(...value))) places.push(value)
      continue
    }
    const isCode = /^code$/i.test(name)
    if (!isCode && !isSensitiveName(name)) continue
    const before = text.slice(Math.max(0, index - space.length - quote.length - name.length - 3), index - space.length - quote.length - name.length)
    if (isCode) isGrant ??= grant.test(text)
    if (isCode && isGrant !== true && (sign === ':' || !/(?:[?&#;]|%(?:3f|26|23))$/i.test(before))) continue
    // `token => token.id` is a function.
    if (sign === '=>' && quote === '' && matchAt(spaceAndQuote, text, index + sign.length) === null) continue
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
const spaceAndQuote = /\s{0,8}\\{0,15}["'`]/y
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
  if ((sign === ':' || sign === '=>') && /[[{]/.test(text.charAt(at))) return [at, endOfStructure(text, at)]
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

const startTag = /<([\w.:-]{1,60})(\s[^<>]{0,300})?>/g
const nameAttribute = /\s(?:name|key|field|property)\s{0,4}=\s{0,4}["']?([\w.[\]-]{1,60})/i
const valueAttribute = /\s(?:value|content)\s{0,4}=\s{0,4}(?:"([^"]*)|'([^']*)|([^\s"'>]+))/di
const section = '<![CDATA['

/** Farther away than this no end of an element is looked for. */
const longestElement = 4000

function addElements (text: string, places: Place[]): void {
  let end = 0
  const hasEnds = text.includes('</')
  for (const { index, 0: tag, 1: name = '', 2: attributes = '' } of text.matchAll(startTag)) {
    const from = index + tag.length
    if (from < end) continue
    const isNamed = isSensitiveName(name.replace(/^.*:/, ''))
    if (!isNamed && !isSensitiveName(nameAttribute.exec(attributes)?.[1] ?? '')) continue
    const [, ...values] = valueAttribute.exec(attributes)?.indices ?? []
    const value = values.find(place => place !== undefined)
    const offset = index + 1 + name.length
    if (value !== undefined) places.push([offset + value[0], offset + value[1]])
    if (!hasEnds) continue
    end = endOfElement(text, from, name, isNamed)
    if (end > from) places.push([from, end])
  }
}

/** Where an element ends: what is within its own elements is its, too. One that only an attribute names may have no end. */
function endOfElement (text: string, from: number, name: string, isNamed: boolean): number {
  if (text.startsWith(section, from)) return indexOrEnd(text, ']]>', from)
  const length = text.slice(from, from + longestElement).indexOf(`</${name}`)
  if (length !== -1) return from + length
  return isNamed ? indexOrEnd(text, '<', from) : from
}

const urlStart = /[a-z][\w+.-]{0,20}:\/\//gi
/** A password up to the last @ before the host. One that holds slashes begins with no port. */
const password = /[^\s:/?#@[\]"'`<>]{0,100}:((?:[^\s/@]{1,1000}|(?!\d{1,5}\/)[^\s@"'`<>]{1,1000})(?:@[^\s/?#@"'`<>]{0,100}){0,9})@/y
/** Paths of databases have no @. */
const databasePassword = /[^\s:/?#@[\]"'`<>]{0,100}:((?:[^\s/@]{1,1000}|(?!\d{1,5}\/)[^\s@"'`<>]{1,1000})(?:@[^\s@"'`<>]{0,100}){0,9})@/y
/** A user who is nobody's name. */
const userToken = /((?=[^\s:/@]{0,99}\d)[^\s:/?#@[\]"'`<>]{10,200}|[^\s:/?#@[\]"'`<>]{20,200})@/y
const web = /^(?:https?|wss?|s?ftp|git|ssh)/i

function addUserInfo (text: string, places: Place[]): void {
  let at = 0
  for (const { index, 0: start } of text.matchAll(urlStart)) {
    const from = index + start.length
    if (at < from) at = text.indexOf('@', from)
    if (at === -1) return
    if (at - from > 1200) continue
    const found = matchAt(web.test(start) ? password : databasePassword, text, from) ?? matchAt(userToken, text, from)
    if (found === null) continue
    const [whole, { length } = ''] = found
    const end = from + whole.length - 1
    places.push([end - length, end])
  }
}

/** What stands behind an option in a sentence about it. */
const noValue = /^(?:and|as|can|cannot|flag|for|has|if|in|instead|is|may|missing|must|needs|not|of|on|option|or|required|should|the|to|was|with)$/i

const option = /(?<![\w-])--([a-z][\w-]{1,60})\s{1,4}(?!-)/gi

/** The values of a command's options. */
function addOptions (text: string, places: Place[]): void {
  for (const { index, 0: whole, 1: name = '' } of text.matchAll(option)) {
    if (!isSensitiveName(name) || /^no-/i.test(name)) continue
    const place = valueAfter(text, index + whole.length, name, ' ')
    if (place === null) continue
    const value = text.slice(...place)
    if (!noSecret.test(value) && !noValue.test(value)) places.push(place)
  }
}

const statement = /( (?:is|was):? {1,2})(?<=(?<![\w-])([\w-]{2,40})\1)(["'`]?)([^\s"'`]{6,})/gi

const algorithm = /^(?:base|sha|md|utf|hs|rs|es)-?\d/i

/** What a sentence says of a secret, unless it is a word: "the password is wrong" gives nothing away. */
function addSentences (text: string, places: Place[]): void {
  for (const { index, 1: verb = '', 2: name = '', 3: quote = '', 4: value = '' } of text.matchAll(statement)) {
    const bare = value.replace(/[.,;:!?)]{1,3}$/, '')
    if (!isSensitiveName(name) || !/\d/.test(bare) || !/[a-z]/i.test(bare) || algorithm.test(bare)) continue
    const from = index + verb.length + quote.length
    places.push([from, from + bare.length])
  }
}

const quotedBeforeQuoted = /(?<![\w\\])(\\{0,15}["'])([a-z][\w.-]{1,60})\1\s{0,4},\s{0,4}(?=\1)/gi

/** Names and values one after the other, as in lists of headers. */
function addPairs (text: string, places: Place[]): void {
  let end = 0
  for (const { index, 0: whole, 2: name = '' } of text.matchAll(quotedBeforeQuoted)) {
    if (index < end || !isSensitiveName(name)) continue
    const place = valueAfter(text, index + whole.length, name, ',')
    if (place === null || !isPair(name, text.slice(...place))) continue
    places.push(place)
    end = place[1]
  }
}

const privateKey = /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY-----/g

function addPrivateKeys (text: string, places: Place[]): void {
  let end = 0
  for (const { index, 0: start } of text.matchAll(privateKey)) {
    const from = index + start.length
    if (from < end) continue
    end = indexOrEnd(text, '-----END', from)
    places.push([from, end])
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
