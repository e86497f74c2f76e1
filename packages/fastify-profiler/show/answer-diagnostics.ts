import type { Collector } from '../collect/collector.ts'
import { protocolOf } from '../collect/protocol.ts'
import type { AnyPanel } from '../collect/panel.ts'
import type { Replace } from '../watch/body-replacement.ts'
import type { Exchange } from '../watch/exchange.ts'
import type { AnswerEditor } from '../watch/exchanges.ts'
import { diagnose, diagnosticBody } from './debug-answer.ts'
import { addDebugHeaders } from './debug-headers.ts'
import { withExceptions } from './problem-answer.ts'
import { reachableHost } from './reachable-host.ts'
import { makeViewContext, type ViewSettings } from './view-context.ts'
import type { ViewerAccess } from './viewer-access.ts'

export interface AnswerDiagnosticsParts extends ViewSettings {
  collector: Collector
  access: ViewerAccess
  panels: readonly AnyPanel[]
  /** Origin of links to profiles; null for the request's own. */
  linkOrigin: string | null
}

/** Adds a request's diagnostics to its own response. */
export class AnswerDiagnostics implements AnswerEditor {
  readonly #parts: AnswerDiagnosticsParts

  constructor(parts: AnswerDiagnosticsParts) {
    this.#parts = parts
  }

  editHead(exchange: Exchange): void {
    addDebugHeaders(exchange, this.#linkOf(exchange))
  }

  editBody(exchange: Exchange): Replace | null {
    const { access, collector, panels } = this.#parts
    const { raw, response } = exchange
    const diagnosis = diagnose(exchange, response)
    if (diagnosis === null || access.judge(raw) !== 'allowed') return null
    if (diagnosis === 'problem') {
      return body => {
        const exceptions = collector.collectExceptions(exchange)
        return withExceptions(body, exceptions, exchange.recorder.token, this.#linkOf(exchange))
      }
    }
    return body => {
      const profile = collector.collect(exchange, profile => profile)
      profile.status = response.statusCode
      profile.outcome = 'completed'
      const context = makeViewContext(profile, this.#parts)
      return diagnosticBody(diagnosis, response, body, context, panels)
    }
  }

  #linkOf(exchange: Exchange): string {
    const { linkOrigin, base } = this.#parts
    const origin = linkOrigin ?? `${protocolOf(exchange)}://${reachableHost(exchange)}`
    return `${origin}${base}/${exchange.recorder.token}`
  }
}
