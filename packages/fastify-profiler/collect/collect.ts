import { performance } from 'node:perf_hooks'
import type { ProfileBounds } from '../base/bounds.ts'
import { attempt, textOf } from '../base/foreign-value.ts'
import { profileVersion, type Exception, type Profile } from '../base/profile.ts'
import { thisProcess } from '../base/this-process.ts'
import type { KnownSecrets } from '../mask/known-secrets.ts'
import { Mask } from '../mask/mask.ts'
import { RequestSecrets } from '../mask/request-secrets.ts'
import type { Exchange } from '../watch/exchange.ts'
import type { KnownRoutes } from '../watch/known-routes.ts'
import { recordedHttpCalls } from '../watch/recorded-http-calls.ts'
import { recordedQueries } from '../watch/recorded-queries.ts'
import { samplingOf } from '../watch/sampling.ts'
import { collectPanels } from './collect-panels.ts'
import { countDropped } from './count-dropped.ts'
import { describeFailures } from './describe-failures.ts'
import { describeHead } from './describe-head.ts'
import { describeHttpCalls } from './describe-http-calls.ts'
import { describeLifecycle } from './describe-lifecycle.ts'
import { describeLogLine } from './describe-log-line.ts'
import { describeQueries } from './describe-queries.ts'
import { describeRequest } from './describe-request.ts'
import { describeResponse } from './describe-response.ts'
import { describeRouting } from './describe-routing.ts'
import { describeSamples } from './describe-samples.ts'
import { headerLinesOf } from './header-lines.ts'
import { learnSecrets } from './learn-secrets.ts'
import { maskSpans } from './mask-spans.ts'
import type { Panel } from './panel.ts'
import { eventLoopUse, memoryUse } from './process-use.ts'
import type { SimilarRoutes } from './similar-routes.ts'

export interface CollectionParts {
  bounds: ProfileBounds
  secrets: KnownSecrets | null
  routes: KnownRoutes
  similar: SimilarRoutes
  panels: ReadonlyArray<Panel<unknown>>
  configuration: string
  toError: (thrown: Error) => Error
}

/** A profile, and the text of its samples to store; null if there is none. */
export interface Collected {
  profile: Profile
  samples: string | null
}

/** Makes the profile of an exchange: plain data, masked and bounded. Throws if a value cannot be read. */
export function collect(exchange: Exchange, parts: CollectionParts): Collected {
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
    routing: describeRouting(exchange, parts, mask),
    database: describeQueries(recordedQueries(recorder), mask),
    http: describeHttpCalls(recordedHttpCalls(recorder), mask),
    eventLoop: eventLoopUse(recorder),
    memory: memoryUse(recorder),
    process: { ...thisProcess },
    configuration: parts.configuration,
    dropped: [],
    notes: recorder.notes.map(note => mask.text(textOf(note))),
    cost: { trace: Math.round(recorder.clock.ownTime * 1000), collect: 0, store: 0 },
    labels: {},
    panels: {},
  }
  collectPanels(profile, { request, reply, recorder }, parts.panels, mask)
  const sampling = samplingOf(recorder)
  const samples = sampling === null ? null : describeSamples(sampling, mask, bounds)
  if (samples !== null) profile.samples = samples.summary
  profile.dropped = countDropped(recorder, losses, mask, secrets, bounds)
  profile.cost.collect = Math.round((performance.now() - before) * 1000)
  return { profile, samples: samples?.text ?? null }
}

/** Makes only the exceptions of an exchange, masked and bounded, since the rest of a profile takes much longer. */
export function collectExceptions(exchange: Exchange, { bounds, secrets, toError }: CollectionParts): Exception[] {
  const mask = new Mask(bounds, learnSecrets(exchange, headerLinesOf(exchange), secrets, bounds))
  return describeFailures(exchange.recorder.failures, toError, mask, bounds).exceptions
}

/** Makes a profile of an exchange that `collect` cannot read. It has the head of the request and response only. */
export function collectBare(exchange: Exchange, parts: CollectionParts, failure: string): Collected {
  const { recorder } = exchange
  recorder.forget()
  recorder.note(
    `The profiler could not read all of this request (${failure}), and kept only its head. The log says why.`,
  )
  const collected = collect({ ...exchange, request: null, reply: null }, { ...parts, panels: [] })
  const { profile } = collected
  const mask = new Mask(parts.bounds, new RequestSecrets(parts.bounds, null))
  profile.routing = attempt(() => describeRouting(exchange, parts, mask), profile.routing)
  if (profile.routing.matched !== null) profile.routing.matched.params = {}
  return collected
}
