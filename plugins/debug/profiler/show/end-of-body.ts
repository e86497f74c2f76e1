/** Elements whose content a browser parses as text. */
const textual = new Set(['script', 'style', 'textarea', 'title', 'iframe', 'noembed', 'noframes', 'noscript', 'xmp'])

const space = /[\t\n\f\r ]/

/**
 * The index of the last `</body>` that a browser takes for a tag: not in a script, a comment, an attribute or a
 * template. Null if there is none or the page is ambiguous, in which case it is better left unchanged.
 */
export function endOfBody(page: string): number | null {
  let last: number | null = null
  let templates = 0
  for (let start = page.indexOf('<'); start !== -1;) {
    const next = page.charAt(start + 1)
    let end: number
    if (page.startsWith('<!--', start)) {
      end = endOfComment(page, start)
    } else if (/[a-z]/i.test(next) || (next === '/' && /[a-z]/i.test(page.charAt(start + 2)))) {
      const closes = next === '/'
      const name = nameAt(page, start + (closes ? 2 : 1))
      end = endOfTag(page, start + (closes ? 2 : 1) + name.length)
      if (closes && name === 'body' && end !== -1 && templates === 0) last = start
      if (name === 'template') templates = Math.max(0, templates + (closes ? -1 : 1))
      if (!closes && name === 'plaintext') return last
      if (!closes && textual.has(name) && end !== -1) {
        const text = endOfText(page, name, end)
        if (name === 'script' && isAmbiguous(page.slice(end, text === -1 ? undefined : text))) return null
        end = text
      }
    } else if (next === '!' || next === '?' || next === '/') {
      // CDATA is text in SVG and MathML, but ends at the first ">" in HTML.
      if (page.startsWith('<![CDATA[', start)) return null
      end = page.indexOf('>', start)
    } else {
      end = start + 1
    }
    // Unclosed: it extends to the end of the page.
    if (end === -1) return last
    start = page.indexOf('<', end)
  }
  return last
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
