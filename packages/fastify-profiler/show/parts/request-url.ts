import type { Profile } from '../../base/profile.ts'
import { sentHost } from './sent-host.ts'

type Asked = Pick<Profile, 'host' | 'protocol' | 'request' | 'url'>

/** The scheme and authority of a target in absolute form (RFC 9112, section 3.2.2). */
const absoluteForm = /^[a-z][\w+.-]*:\/\/[^/?#]*/i

/** The path and query that a request asked for. */
export function requestTarget({ url }: Pick<Profile, 'url'>): string {
  const target = url.replace(absoluteForm, '')
  return target.startsWith('/') ? target : `/${target}`
}

/** The whole URL that a request asked for, in the client's spelling. */
export function requestUrl(asked: Asked): string {
  return `${asked.protocol}://${sentHost(asked) ?? 'localhost'}${requestTarget(asked)}`
}
