/** No site: what is resolved against it and stays there would stay on any. */
const anySite = 'http://site.invalid'

/**
 * Where to go on to after signing in: a path of this site with its query, as a browser would resolve it.
 * @param next what the request asks for; anything that leads elsewhere leads to the front page
 */
export function nextPath(next: string | undefined): string {
  if (next === undefined || !next.startsWith('/') || !URL.canParse(next, anySite)) return '/'
  const { origin, pathname, search, hash } = new URL(next, anySite)
  // A path of the site may begin with two slashes, which a browser would take for a host: /.//host
  return origin === anySite && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/'
}
