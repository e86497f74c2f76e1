/**
 * Limits a Cache-Control header (RFC 9111, section 5.2.2), so that caches use the response for this long at most.
 * @param seconds a whole number
 */
export function limitLifetime(cacheControl: string, seconds: number): string {
  const directives = cacheControl.split(',').map(directive => directive.trim().toLowerCase())
  if (directives.includes('no-store') || directives.includes('no-cache')) return cacheControl
  const limited = directives
    // These let caches use a response whose lifetime is over.
    .filter(directive => !/^(?:stale-.*|immutable|must-revalidate|)$/.test(directive))
    .map(directive => directive.replace(/^(max-age|s-maxage)="?(\d+)"?$/, limit))
  // Without max-age, a cache may choose a lifetime itself (section 4.2.2).
  if (!limited.some(directive => directive.startsWith('max-age='))) limited.push('max-age=0')
  return [...limited, 'must-revalidate'].join(', ')

  function limit(_directive: string, name: string, lifetime: string): string {
    return `${name}=${Math.min(Number(lifetime), seconds)}`
  }
}
