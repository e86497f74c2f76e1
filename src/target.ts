const absoluteForm = /^https?:\/\/([^/?#]*)/i

/**
 * The raw path of a request target (RFC 9112, section 3.2): percent-encoding, repeated slashes and dots untouched,
 * no query, no fragment; an absolute-form target reduced to its path.
 */
export function pathOf (target: string): string {
  const path = target.replace(absoluteForm, '')
  const end = path.search(/[?#]/)
  return (end === -1 ? path : path.slice(0, end)) || '/'
}

/** The query of a request target as it was sent, with its question mark; empty where there is none. */
export function queryOf (target: string): string {
  const fragment = target.indexOf('#')
  const withoutFragment = fragment === -1 ? target : target.slice(0, fragment)
  const start = withoutFragment.indexOf('?')
  return start === -1 ? '' : withoutFragment.slice(start)
}

/** The authority of an absolute-form target, which replaces the Host header (RFC 9112, section 3.2.2); else undefined. */
export function authorityOf (target: string): string | undefined {
  // Nearly every target begins with a slash: those are spared the expression.
  return target.startsWith('/') ? undefined : absoluteForm.exec(target)?.[1]
}
