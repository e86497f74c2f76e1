import type { Profile } from '../../base/profile.ts'

/** The Host header with its port, which `profile.host` lacks. */
export function sentHost({ host, request }: Pick<Profile, 'host' | 'request'>): string | null {
  return request.headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? host
}
