import { attempt, textOf } from '../base/foreign-value.ts'
import { toMicroseconds } from '../base/microseconds.ts'
import { hostName, requestHost } from '../base/request-host.ts'
import { pathOfUrl } from '../base/request-path.ts'
import type { Mask } from '../mask/mask.ts'
import type { Exchange } from '../watch/exchange.ts'
import { outcomeOf } from './outcome.ts'
import { protocolOf } from './protocol.ts'

/** The head of a profile: request line, client, status, outcome and times. */
export function describeHead(exchange: Exchange, mask: Mask) {
  const { recorder, raw, response, answer, upgrade, request } = exchange
  const host = requestHost(raw)
  const ip = attempt(() => request?.ip, undefined) ?? recorder.remoteAddress
  return {
    token: recorder.token,
    parent: recorder.parent,
    ...(recorder.isReplay && { isReplay: recorder.isReplay }),
    time: recorder.time,
    duration: toMicroseconds(recorder.ended ?? recorder.now()),
    status: response.headersSent ? answer.status : (upgrade?.status ?? null),
    outcome: outcomeOf(exchange),
    method: recorder.method,
    url: mask.text(recorder.url),
    path: mask.text(pathOfUrl(recorder.url)),
    host: host === null ? null : mask.text(hostName(host)),
    ip: mask.textOrNull(ip),
    protocol: protocolOf(exchange),
    httpVersion: raw.httpVersion,
    requestId: request === null ? null : mask.text(textOf(request.id)),
  }
}
