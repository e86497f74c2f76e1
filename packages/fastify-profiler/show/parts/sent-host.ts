import type { Profile } from '../../base/profile.ts'

/** The Host header with its port, or HTTP/2's :authority, since `profile.host` lacks the port. */
export function sentHost({ host, request }: Pick<Profile, 'host' | 'request'>): string | null {
  return request.headers.find(([name]) => /^(?:host|:authority)$/i.test(name))?.[1] ?? host
}
