import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { partsOf, type ProfilerOptions } from './options.ts'
import { Profiler } from './profiler.ts'
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
  const instance = new Profiler(partsOf(app, options))
  app.decorate('profiler', instance)
  app.decorateRequest('recorder', {
    getter() {
      return instance.recorderOf(this.raw) ?? null
    },
  })
  instance.install()
  app.addHook('onReady', async function storeConfiguration() {
    instance.configure()
  })
  app.addHook('onClose', async function stopProfiler() {
    await instance.stop()
  })
}

export default fp(profiler, { name: 'profiler', fastify: '5.x' })

export { profiledOptions } from './profiled-options.ts'
export type { ProfilerOptions } from './options.ts'
export { currentRecorder } from './watch/current-recorder.ts'
export { captureCallSite, isForeign, originalLocation } from './base/call-site.ts'
export { profiledLogger, recordedLogger } from './watch/log-recorder.ts'
export { masked } from './mask/known-secrets.ts'
export { looksSecret } from './mask/secret-values.ts'
export { isSensitiveField } from './mask/sensitive-names.ts'
export { toMicroseconds } from './base/microseconds.ts'
export type { Panel, PanelView, ViewContext, FinishedRequest, Badge, ToolbarItem, Tone } from './collect/panel.ts'
export type { Profile, Json, Span, SpanKind, Location } from './base/profile.ts'
export type { Recorder, SpanDescription, OpenSpan } from './watch/recorder.ts'
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
