import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { watcherOf } from './base/watched-by.ts'
import { install } from './install.ts'
import type { ProfilerOptions, Terms } from './options.ts'
import type { Profiler } from './profiler.ts'
import type { Recorder } from './watch/recorder.ts'

declare module 'fastify' {
  interface FastifyInstance {
    profiler: Profiler
  }
  interface FastifyRequest {
    /** Records this request; null for the profiler's own pages. */
    readonly recorder: Recorder | null
  }
}

/** Profiles every request. Register it first: it does not see what is registered before it. */
async function profiler(app: FastifyInstance, options: ProfilerOptions): Promise<void> {
  const watcher = watcherOf(app)
  if (watcher !== null) app.log.warn(alreadyWatched(watcher.version, options))
  if (app.hasDecorator('profiler')) return
  const instance = watcher === null ? install(app, options, terms(app)) : watcher.profiler
  if (!isProfiler(instance)) return
  app.decorate('profiler', instance)
  app.decorateRequest('recorder', {
    getter() {
      return instance.recorderOf(this.raw) ?? null
    },
  })
}

function alreadyWatched(version: string, options: object): string {
  const names = Object.keys(options).join(', ')
  const loss = names === '' ? 'This registration adds nothing.' : `This registration's options are ignored: ${names}.`
  return (
    `fastify-profiler ${version} already watches this application: it was registered earlier, or loaded with ` +
    `--import. ${loss} Keep only one of the two.`
  )
}

/** Reports failures of the profiler, and wasteful calls of a route, in the application's log. */
function terms({ log }: FastifyInstance): Terms {
  return {
    complain: (error, message) => log.warn({ err: error }, message),
    advise: sentence => log.warn(sentence),
  }
}

/** Whether a profiler, maybe one of another version, has what the decorators need. */
function isProfiler(value: object): value is Profiler {
  return 'recorderOf' in value && 'access' in value
}

export default fp(profiler, { name: 'profiler', fastify: '5.x' })

export { profiledOptions } from './profiled-options.ts'
export type { ProfilerOptions } from './options.ts'
export { Attachment } from './watch/attachment.ts'
export { currentRecorder } from './watch/current-recorder.ts'
export { findCaller } from './base/caller.ts'
export { profiledLogger, recordedLogger } from './watch/log-recorder.ts'
export { masked } from './mask/known-secrets.ts'
export { looksSecret } from './mask/secret-values.ts'
export { isSensitiveField } from './mask/sensitive-names.ts'
export { toMicroseconds } from './base/microseconds.ts'
export type {
  Panel,
  PanelView,
  ViewContext,
  FinishedRequest,
  Badge,
  ToolbarItem,
  ToolbarCard,
  CardRow,
  Tone,
} from './collect/panel.ts'
export type {
  Profile,
  Json,
  Span,
  SpanKind,
  Location,
  DatabaseUse,
  HttpUse,
  Query,
  HttpCall,
  Repetition,
} from './base/profile.ts'
export type { Recorder, SpanDescription, OpenSpan } from './watch/recorder.ts'
export type { ExplainClient, ExplainPool, ExplainQuery } from './explain/explain-pool.ts'
export type { ProfileBounds, StoreBounds } from './base/bounds.ts'
export { renderBadge } from './show/parts/badge.ts'
export { renderSqlBlock } from './show/parts/code-block.ts'
export { renderDataTable } from './show/parts/data-table.ts'
export { renderEmptyState } from './show/parts/empty-state.ts'
export { html } from './base/html.ts'
export { blocks, code, codeBlock, plain, table } from './show/markdown/markdown.ts'
export { renderKeyValueTable } from './show/parts/key-value-table.ts'
export { locationText, renderLocation } from './show/parts/location.ts'
export { renderMetrics } from './show/parts/metrics.ts'
export { renderSection } from './show/parts/section.ts'
export { count, formatDuration } from './show/parts/units.ts'
