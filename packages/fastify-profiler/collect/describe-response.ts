import type { HeaderLine, ResponseRecord } from '../base/profile.ts'
import { maskResponseHeader } from '../mask/mask-header.ts'
import type { Mask } from '../mask/mask.ts'
import type { Exchange } from '../watch/exchange.ts'
import { headerOf } from './header-lines.ts'

export function describeResponse(exchange: Exchange, headers: readonly HeaderLine[], mask: Mask): ResponseRecord {
  const { answer, recorder } = exchange
  return {
    headers: headers.map(line => maskResponseHeader(line, recorder.token, mask.texts)),
    contentType: mask.textOrNull(headerOf(headers, 'content-type')),
    bodySize: recorder.method === 'HEAD' ? 0 : answer.bytes,
    streamed: answer.streamed,
  }
}
