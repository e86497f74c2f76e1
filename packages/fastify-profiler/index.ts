import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { watcherOf } from './core/package-version.ts'
import type { Recorder } from './core/watch/recorder.ts'
import type { ProfilerOptions, Terms } from './options.ts'
import { install, type Profiler } from './profiler.ts'

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

export type { ProfilerOptions } from './options.ts'
export { Attachment } from './core/watch/attachment.ts'
export { currentRecorder } from './core/watch/current-recorder.ts'
export { findCaller } from './core/call-site.ts'
export { profiledLogger, profiledOptions, recordedLogger } from './features/logs/log-recorder.ts'
export { masked } from './core/mask/known-secrets.ts'
export { isSensitiveField, looksSecret } from './core/mask/secret-names.ts'
export { toMicroseconds } from './core/profile.ts'
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
} from './core/panel.ts'
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
} from './core/profile.ts'
export type { Recorder, SpanDescription, OpenSpan } from './core/watch/recorder.ts'
export type { ExplainClient, ExplainPool, ExplainQuery } from './core/feature.ts'
export type { ProfileBounds, StoreBounds } from './core/bounds.ts'
export type { Block, Finding, Inline } from './core/view/block.ts'
export type { Column } from './core/view/elements.ts'
export { html } from './core/view/html.ts'
export { count, formatDuration } from './core/view/units.ts'
