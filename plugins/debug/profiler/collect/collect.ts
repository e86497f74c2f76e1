import { performance } from 'node:perf_hooks'
import type { ProfileBounds } from '../base/bounds.ts'
import { attempt, textOf } from '../base/foreign-value.ts'
import { profileVersion, type Profile } from '../base/profile.ts'
import type { KnownSecrets } from '../mask/known-secrets.ts'
import { Mask } from '../mask/mask.ts'
import { RequestSecrets } from '../mask/request-secrets.ts'
import type { Exchange } from '../watch/exchange.ts'
import type { KnownRoutes } from '../watch/known-routes.ts'
import { collectPanels } from './collect-panels.ts'
import { countDropped } from './count-dropped.ts'
import { describeFailures } from './describe-failures.ts'
import { describeHead } from './describe-head.ts'
import { describeLifecycle } from './describe-lifecycle.ts'
import { describeLogLine } from './describe-log-line.ts'
import { describeRequest } from './describe-request.ts'
import { describeResponse } from './describe-response.ts'
import { describeRouting } from './describe-routing.ts'
import { headerLinesOf } from './header-lines.ts'
import { learnSecrets } from './learn-secrets.ts'
import { maskSpans } from './mask-spans.ts'
import type { Panel } from './panel.ts'
import { eventLoopUse, memoryUse } from './process-use.ts'

export interface CollectionParts {
  bounds: ProfileBounds
  secrets: KnownSecrets | null
  routes: KnownRoutes
  panels: ReadonlyArray<Panel<unknown>>
  configuration: string
  toError: (thrown: Error) => Error
}

const processStart = Math.round(performance.timeOrigin)

/** Makes the profile of an exchange: plain data, masked and bounded. Throws if a value cannot be read. */
export function collect(exchange: Exchange, parts: CollectionParts): Profile {
  const before = performance.now()
  const { recorder, request, reply } = exchange
  const { bounds } = parts
  const headers = headerLinesOf(exchange)
  const secrets = learnSecrets(exchange, headers, parts.secrets, bounds)
  const mask = new Mask(bounds, secrets)
  const { exceptions, origins, losses } = describeFailures(recorder.failures, parts.toError, mask, bounds)
  maskSpans(recorder.spans, mask)
  const profile: Profile = {
    version: profileVersion,
    ...describeHead(exchange, mask),
    request: describeRequest(exchange, headers.request, mask),
    response: describeResponse(exchange, headers.response, mask),
    exceptions,
    logs: recorder.lines.map(line => describeLogLine(line, mask)),
    spans: recorder.spans,
    lifecycle: describeLifecycle(recorder.spans, recorder.marks, origins),
    routing: describeRouting(exchange, parts.routes, mask),
    eventLoop: eventLoopUse(recorder),
    memory: memoryUse(recorder),
    process: { id: process.pid, startedAt: processStart },
    configuration: parts.configuration,
    dropped: [],
    notes: recorder.notes.map(note => mask.text(textOf(note))),
    cost: { trace: Math.round(recorder.clock.ownTime * 1000), collect: 0, store: 0 },
    labels: {},
    panels: {},
  }
  collectPanels(profile, { request, reply, recorder }, parts.panels, mask)
  profile.dropped = countDropped(recorder, losses, mask, secrets, bounds)
  profile.cost.collect = Math.round((performance.now() - before) * 1000)
  return profile
}

/** Makes a profile of an exchange that `collect` cannot read. It has the head of the request and response only. */
export function collectBare(exchange: Exchange, parts: CollectionParts, failure: string): Profile {
  const { recorder } = exchange
  recorder.forget()
  recorder.note(
    `The profiler could not read all of this request (${failure}), and kept only its head. The log says why.`,
  )
  const profile = collect({ ...exchange, request: null, reply: null }, { ...parts, panels: [] })
  const mask = new Mask(parts.bounds, new RequestSecrets(parts.bounds, null))
  profile.routing = attempt(() => describeRouting(exchange, parts.routes, mask), profile.routing)
  if (profile.routing.matched !== null) profile.routing.matched.params = {}
  return profile
}
