const absoluteForm = /^https?:\/\/([^/?#]*)/i

/**
 * The raw path of a request target (RFC 9112, section 3.2): percent-encoding, repeated slashes and dots untouched,
 * no query, no fragment; an absolute-form target reduced to its path.
 */
export function pathOf (target: string): string {
  // Nearly every target begins with a slash: those are spared the expression.
  const path = target.startsWith('/') ? target : target.replace(absoluteForm, '')
  return before('?', before('#', path)) || '/'
}

/** What comes before the first such mark; all, where there is none. */
export function before (mark: string, text: string): string {
  const end = text.indexOf(mark)
  return end === -1 ? text : text.slice(0, end)
}

/** The query of a request target as it was sent, with its question mark; empty where there is none. */
export function queryOf (target: string): string {
  const withoutFragment = before('#', target)
  const start = withoutFragment.indexOf('?')
  return start === -1 ? '' : withoutFragment.slice(start)
}

/** The authority of an absolute-form target, which replaces the Host header (RFC 9112, section 3.2.2); else undefined. */
export function authorityOf (target: string): string | undefined {
  return target.startsWith('/') ? undefined : absoluteForm.exec(target)?.[1]
}
