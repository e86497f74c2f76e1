import type { Profile } from '../../base/profile.ts'

/** The host as it was sent, with its port; the profile's own has none. */
export function sentHost({ host, request }: Pick<Profile, 'host' | 'request'>): string | null {
  return request.headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? host
}
