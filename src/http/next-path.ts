/** Stands for this site: a path that stays on it stays on any site. */
const anySite = 'http://site.invalid'

/**
 * The target of the redirect after signing in: a path of this site with its query, resolved like a browser does.
 * @param next the requested path; the front page replaces anything that leads to another site
 */
export function nextPath(next: string | undefined): string {
  if (next === undefined || !next.startsWith('/') || !URL.canParse(next, anySite)) return '/'
  const { origin, pathname, search, hash } = new URL(next, anySite)
  // A resolved path may start with two slashes, as that of /.//host does, and a browser would take the rest for a host.
  return origin === anySite && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/'
}
