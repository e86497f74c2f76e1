export interface Tag {
  /** The index of its "<". */
  start: number
  /** The index of its ">". */
  end: number
  /** In lower case. */
  name: string
  closes: boolean
}

/** Elements whose content a browser parses as text. */
const textual = new Set(['script', 'style', 'textarea', 'title', 'iframe', 'noembed', 'noframes', 'noscript', 'xmp'])

const space = /[\t\n\f\r ]/

/** The tags of a page, as a browser parses it. Ends with null where browsers may disagree. */
export function* tagsOf(page: string): Generator<Tag | null> {
  let start = page.indexOf('<')
  while (start !== -1) {
    const tag = tagAt(page, start)
    // Unclosed: it extends to the end of the page.
    if (tag?.end === -1) return
    if (tag !== null) yield tag
    const next = tag === null ? afterOther(page, start) : afterTag(page, tag)
    if (next === null) yield null
    if (next === null || next === -1) return
    start = page.indexOf('<', next)
  }
}

/** The tag at a "<"; null if none starts there. Its end is -1 if it has none. */
function tagAt(page: string, start: number): Tag | null {
  const closes = page[start + 1] === '/'
  const nameStart = start + (closes ? 2 : 1)
  if (!/[a-z]/i.test(page.charAt(nameStart))) return null
  const name = nameAt(page, nameStart)
  return { start, end: endOfTag(page, nameStart + name.length), name, closes }
}

/** Where markup goes on after a tag and the text of its element: -1 if nowhere, null if ambiguous. */
function afterTag(page: string, { name, closes, end }: Tag): number | null {
  if (closes) return end
  if (name === 'plaintext') return -1
  if (!textual.has(name)) return end
  const text = endOfText(page, name, end)
  return name === 'script' && isAmbiguous(page.slice(end, text === -1 ? undefined : text)) ? null : text
}

/** Where markup goes on after a comment, a declaration or a mere "<": -1 if nowhere, null if ambiguous. */
function afterOther(page: string, start: number): number | null {
  if (page.startsWith('<!--', start)) return endOfComment(page, start)
  // CDATA is text in SVG and MathML, but ends at the first ">" in HTML.
  if (page.startsWith('<![CDATA[', start)) return null
  return /[!?/]/.test(page.charAt(start + 1)) ? page.indexOf('>', start) : start + 1
}

function endOfComment(page: string, start: number): number {
  if (page.startsWith('<!-->', start) || page.startsWith('<!--->', start)) return start + 5
  const ends = ['-->', '--!>'].map(end => page.indexOf(end, start + 4)).filter(end => end !== -1)
  return ends.length === 0 ? -1 : Math.min(...ends)
}

function nameAt(page: string, start: number): string {
  let end = start
  while (end < page.length && !/[\t\n\f\r />]/.test(page.charAt(end))) end++
  return page.slice(start, end).toLowerCase()
}

/** The index of the ">" that ends a tag, after its attributes; -1 if there is none. */
function endOfTag(page: string, afterName: number): number {
  let at = afterName
  while (at < page.length) {
    while (space.test(page.charAt(at)) || page[at] === '/') at++
    if (page[at] === '>') return at
    // The first character belongs to the name, even if it is "=".
    at++
    while (at < page.length && !/[\t\n\f\r />=]/.test(page.charAt(at))) at++
    while (space.test(page.charAt(at))) at++
    if (page[at] !== '=') continue
    at++
    while (space.test(page.charAt(at))) at++
    const quote = page.charAt(at)
    if (quote === '"' || quote === "'") {
      at = page.indexOf(quote, at + 1) + 1
      if (at === 0) return -1
    } else {
      while (at < page.length && !/[\t\n\f\r >]/.test(page.charAt(at))) at++
    }
  }
  return -1
}

/** The index of the end tag of a text element; -1 if there is none. */
function endOfText(page: string, name: string, start: number): number {
  const pattern = new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'gi')
  pattern.lastIndex = start
  return pattern.exec(page)?.index ?? -1
}

/** A script with a comment and a nested script tag may end at either end tag. */
function isAmbiguous(script: string): boolean {
  return script.includes('<!--') && /<script[\t\n\f\r />]/i.test(script)
}
