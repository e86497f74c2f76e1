import type { ViewContext } from '../../collect/panel.ts'
import type { Excerpt, Exception, Frame, Profile } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { renderExcerpt } from './code-block.ts'
import { renderEmptyState } from './empty-state.ts'
import { nearestOwnFrame, placeOf, rootCauseOf, samePlaces } from './exception-chain.ts'
import { renderExceptionTree } from './exception-tree.ts'
import { foldedExceptions, tellingFrames } from './folded-exceptions.ts'
import { renderHeading, type HeadingLevel } from './heading.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderKeyValueTable } from './key-value-table.ts'
import { locationText, renderLocation } from './location.ts'
import { isRoutingFailure } from './near-misses.ts'
import { count } from './units.ts'

/** How to render exceptions: the root of file names, the editor link and the heading level. */
type Place = Pick<ViewContext, 'root' | 'editorUrl'> & { level: HeadingLevel }

/** Application frames shown with their source below the first, or a deep recursion would fill the page. */
const MORE_SOURCES = 5

/** Lines shown before and after the line of a frame. */
const LINES_AROUND = 3

/**
 * The chain of exceptions, then each with its code: the root cause first, at the nearest line of the application, then
 * the outermost. The others are folded.
 */
export function renderExceptions(
  { exceptions, ...profile }: Pick<Profile, 'exceptions' | 'routing' | 'status'>,
  { root, editorUrl }: Pick<ViewContext, 'root' | 'editorUrl'>,
  level: HeadingLevel,
): Markup {
  const place = { root, editorUrl, level }
  const cause = rootCauseOf(exceptions)
  const order = [...new Set([cause, ...exceptions.keys()])]
  // The requested path is at fault, not the code that rejects it.
  const open = isRoutingFailure(profile) ? [] : [cause, 0]
  const same = samePlaces(exceptions, order)
  const brief = foldedExceptions(exceptions)
  return html`${renderExceptionTree(exceptions, place)}
${order.map(index => {
  const exception = exceptions[index]
  if (exception === undefined) return null
  const body = renderException(exceptions, exception, index, place, brief[index] === true)
  if (open.includes(index)) return body
  return html`<details class="fold folded-exception"><summary>${renderSummary(exception, index, same[index], root)}</summary>
${body}</details>`
})}`
}

function renderSummary(exception: Exception, index: number, same: number | null | undefined, root: string): Markup {
  const frame = placeOf(exception)
  const where =
    same != null ? html`same place as ${same + 1}` : frame !== null && html`<code>${locationText(frame, root)}</code>`
  return html`<b>${index + 1}</b> ${exception.class} <span class="muted">${where}</span>`
}

function renderException(
  exceptions: readonly Exception[],
  exception: Exception,
  index: number,
  place: Place,
  isBrief: boolean,
): Markup {
  const { code, message, properties, statusCode } = exception
  const id = `exception-${index + 1}`
  const entries = Object.entries(properties)
  return html`<article class="exception" id="${id}" aria-labelledby="${id}-class">
${renderHeading(place.level, `${id}-class`, html`${exception.class}${code !== null && html` ${renderBadge(code)}`}${statusCode !== null && html` ${renderBadge(statusCode)}`}${renderRole(exceptions, index)}`)}
<p class="message">${message === '' ? html`<span class="muted">No message.</span>` : message}</p>
${isBrief ? renderFrameList(tellingFrames(exception), place, 0) : renderStack(exceptions, index, exception, place)}
${entries.length > 0 && html`<details class="fold"><summary>${count(entries.length, 'property', 'properties')}: ${entries.map(([name]) => name).join(', ')}</summary>${renderKeyValueTable(`Properties of ${exception.class}`, entries)}</details>`}
</article>`
}

/** What an exception is in its chain: Root cause, 5 of 6. */
function renderRole(exceptions: readonly Exception[], index: number): Markup | null {
  if (exceptions.length < 2) return null
  const isRoot = index === rootCauseOf(exceptions)
  const role = isRoot ? 'Root cause, ' : index === 0 ? 'Outermost, ' : ''
  return html` <small>${role}${index + 1} of ${exceptions.length}</small>`
}

/** The line that matters with its source, and the other frames folded. */
function renderStack(exceptions: readonly Exception[], index: number, exception: Exception, place: Place): Markup {
  const { frames } = exception
  if (frames.length === 0) return renderEmptyState('No stack trace.')
  const nearest = nearestOwnFrame(exceptions, index)
  const main = frames.find(({ kind }) => kind === 'own') ?? null
  const above = exceptions[exception.parent ?? -1]
  const shared = above === undefined ? 0 : sharedFrames(frames, above.frames)
  const rest = frames.slice(0, frames.length - shared).filter(frame => frame !== main)
  return html`${main === null && nearest !== null && html`<p class="muted">No frame of yours. The nearest line of yours:</p>`}
${nearest !== null && renderOwnFrame(nearest, place)}
${rest.length > 0 && html`<details class="fold"><summary>${restText(rest, main === null)}</summary>${renderFrameList(rest, place, MORE_SOURCES)}</details>`}
${above !== undefined && shared > 0 && html`<p class="muted">${count(shared, 'frame')} shared with ${above.class}.</p>`}`
}

/** 10 more frames: 1 yours, 9 in fastify, Node. */
function restText(frames: readonly Frame[], isAll: boolean): string {
  const own = frames.filter(({ kind }) => kind === 'own').length
  const parts = [
    ...(own > 0 ? [`${own} yours`] : []),
    ...(own < frames.length
      ? [`${frames.length - own} in ${origins(frames.filter(({ kind }) => kind !== 'own'))}`]
      : []),
  ]
  return `${count(frames.length, isAll ? 'frame' : 'more frame')}: ${parts.join(', ')}`
}

function renderFrameList(frames: readonly Frame[], place: Place, sources: number): Markup {
  if (frames.length === 0) return renderEmptyState('No stack trace.')
  let shown = 0
  return html`<ol class="frames">${frames.map(
    frame => html`
<li>${frame.excerpt !== undefined && shown++ < sources ? renderOwnFrame(frame, place) : renderFrameLine(frame, place)}</li>`,
  )}</ol>`
}

/** How many of the last frames the parent exception has, too. The first frame never counts. */
function sharedFrames(frames: readonly Frame[], above: readonly Frame[]): number {
  let shared = 0
  while (shared < frames.length - 1 && isSamePlace(frames.at(-1 - shared), above.at(-1 - shared))) shared++
  return shared
}

function isSamePlace(one: Frame | undefined, other: Frame | undefined): boolean {
  return one?.file === other?.file && one?.line === other?.line && one?.column === other?.column
}

function renderOwnFrame(frame: Frame, place: Place): Markup {
  return html`${renderFrameLine(frame, place)}${frame.excerpt !== undefined && renderExcerpt(narrowed(frame.excerpt))}`
}

/** The lines of an excerpt next to its line. */
function narrowed({ first, line, lines }: Excerpt): Excerpt {
  const from = Math.max(first, line - LINES_AROUND)
  return { first: from, line, lines: lines.slice(from - first, line - first + LINES_AROUND + 1) }
}

function renderFrameLine(frame: Frame, place: Place): Markup {
  return html`<p class="frame">${renderLocation(frame, place)} <span class="function">${frame.function ?? 'anonymous'}</span></p>`
}

/** The packages the frames belong to, or Node. */
function origins(frames: readonly Frame[]): string {
  const names = new Set(frames.map(frame => (frame.kind === 'node' ? 'Node' : packageName(frame.file))))
  return [...names].join(', ')
}

function packageName(file: string): string {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? 'other files'
}
