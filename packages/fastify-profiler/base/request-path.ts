/** The raw path of a request: no query, no fragment, an absolute-form target reduced to its path. */
export function pathOfUrl(url: string): string {
  const path = url.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  return path === '' ? '/' : path
}
