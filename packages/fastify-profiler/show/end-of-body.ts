import { tagsOf } from './html-tags.ts'

/**
 * The index of the last `</body>` that a browser takes for a tag: not in a script, a comment, an attribute or a
 * template. Null if there is none or the page is ambiguous, in which case it is better left unchanged.
 */
export function endOfBody(page: string): number | null {
  let last: number | null = null
  let templates = 0
  for (const tag of tagsOf(page)) {
    if (tag === null) return null
    const { start, name, closes } = tag
    if (name === 'template') templates = Math.max(0, templates + (closes ? -1 : 1))
    if (name === 'body' && closes && templates === 0) last = start
  }
  return last
}
