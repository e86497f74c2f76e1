import type { ToolbarCard, ViewContext } from '../../core/panel.ts'
import type { Exception, Excerpt, Frame, Profile } from '../../core/profile.ts'
import {
  type HeadingLevel,
  locationText,
  renderBadge,
  renderEmptyState,
  renderHeading,
  renderIndent,
  renderKeyValueTable,
  renderLocation,
} from '../../core/view/elements.ts'
import type { ProfileSummary } from '../../core/summary.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { count, formatTime } from '../../core/view/units.ts'
import { isRoutingFailure } from '../routing/routing-panel.ts'
import { renderExcerpt } from './source-excerpt.ts'

/** The index of the error that has ended the process, or else of the first. */
export function worstOf({ crash, exceptions }: Pick<Profile, 'crash' | 'exceptions'>): number {
  return crash === undefined ? 0 : exceptions.findLastIndex(({ uncaught }) => uncaught !== undefined)
}

/** The index of the error at the bottom of a chain: the cause, or else the first member, of each in turn. */
export function rootCauseOf(exceptions: readonly Exception[], from = 0): number {
  // A parent comes before its causes and members; anything else would be a cycle.
  const below = [...exceptions.keys()].filter(index => index > from && exceptions[index]?.parent === from)
  const next = below.find(index => exceptions[index]?.relation === 'cause') ?? below[0]
  return next === undefined ? from : rootCauseOf(exceptions, next)
}

/** How many errors are above each one. */
function depthsOf(exceptions: readonly Exception[]): number[] {
  const depths: number[] = []
  for (const { parent } of exceptions) depths.push(parent === null ? 0 : (depths[parent] ?? -1) + 1)
  return depths
}

/** Where an error was thrown: at the application's nearest frame, or else at its first; null without a stack. */
function placeOf({ frames }: Exception): Frame | null {
  return frames.find(({ kind }) => kind === 'own') ?? frames[0] ?? null
}

/** The application's frame nearest to an error, which may be one of an error above it; null if there is none. */
export function nearestOwnFrame(exceptions: readonly Exception[], index: number): Frame | null {
  const exception = exceptions[index]
  if (exception === undefined) return null
  const own = exception.frames.find(({ kind }) => kind === 'own')
  const { parent } = exception
  return own ?? (parent === null || parent >= index ? null : nearestOwnFrame(exceptions, parent))
}

/** For each error the index of the one that names its place first, in the given order; null if that is itself. */
function samePlaces(exceptions: readonly Exception[], order: readonly number[]): Array<number | null> {
  const owners = new Map<string, number>()
  const same: Array<number | null> = exceptions.map(() => null)
  for (const index of order) {
    const exception = exceptions[index]
    const place = exception && placeOf(exception)
    if (!place) continue
    const key = `${place.file}:${place.line}`
    const owner = owners.get(key)
    if (owner === undefined) owners.set(key, index)
    else if (owner !== index) same[index] = owner
  }
  return same
}

const MESSAGE_LENGTH = 300

/** The errors of a chain, one line each: those that caused an error, or were gathered in it, are indented under it. */
export function renderExceptionTree(
  exceptions: readonly Exception[],
  place: Pick<ViewContext, 'root' | 'editorUrl'>,
): Markup {
  const root = rootCauseOf(exceptions)
  const depths = depthsOf(exceptions)
  const same = samePlaces(exceptions, [root, ...exceptions.keys()])
  return html`<ol class="chain rows" aria-label="Exception chain">${exceptions.map((exception, index) => {
    const isRoot = index === root && root > 0
    const other = same[index]
    return html`
<li class="cells${isRoot && ' error'}"><span class="badge ${isRoot ? 'solid' : 'neutral'}">${index + 1}</span><span class="said">${renderIndent(depths[index] ?? 0)}<span class="sr-only">${relationText(exception, exceptions)} </span><a href="#exception-${index + 1}">${exception.class}</a> <span class="cut">${exception.message.slice(0, MESSAGE_LENGTH)}</span>${markOf(index, root)}</span><span class="cut">${other == null ? renderPlace(exception, place) : html`<span class="muted">same place as ${other + 1}</span>`}</span></li>`
  })}
</ol>`
}

function markOf(index: number, root: number): Markup | null {
  if (root === 0) return null
  if (index === root) return html` <span class="badge solid">Root cause</span>`
  return index === 0 ? html` ${renderBadge('Outermost')}` : null
}

function renderPlace(exception: Exception, place: Pick<ViewContext, 'root' | 'editorUrl'>): Markup {
  const frame = placeOf(exception)
  return frame === null ? html`<span class="muted">no stack trace</span>` : renderLocation(frame, place)
}

/** How an error relates to its parent, for readers that do not see the indentation. */
function relationText({ parent, relation }: Exception, all: readonly Exception[]): string {
  const above = all[parent ?? -1]
  if (above === undefined) return relation === 'logged' ? 'Logged:' : 'Thrown:'
  return `${relation === 'cause' ? 'Cause' : 'Member'} of ${above.class}:`
}

/** Members of one error shown in full; the others mostly repeat them. */
const membersShown = 2

/** Whether each exception of a chain is folded: members after the first few, and everything below them. */
export function foldedExceptions(exceptions: readonly Exception[]): boolean[] {
  const members = new Map<number, number>()
  const folded: boolean[] = []
  for (const { relation, parent } of exceptions) {
    const place = relation === 'member' && parent !== null ? (members.get(parent) ?? 0) + 1 : 0
    if (parent !== null) members.set(parent, Math.max(place, members.get(parent) ?? 0))
    folded.push(place > membersShown || (parent !== null && folded[parent] === true))
  }
  return folded
}

/** The frames shown for a folded exception: the application's, or else the first. */
export function tellingFrames({ frames }: Exception): readonly Frame[] {
  const own = frames.filter(({ kind }) => kind === 'own')
  return own.length > 0 ? own : frames.slice(0, 1)
}

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
  return html`<details class="fold"><summary>${renderSummary(exception, index, same[index], root)}</summary>
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
  const { code, message, properties, relation, statusCode, uncaught } = exception
  const id = `exception-${index + 1}`
  const entries = Object.entries(properties)
  return html`<article class="exception" id="${id}" aria-labelledby="${id}-class">
${renderHeading(place.level, `${id}-class`, html`${exception.class}${code !== null && html` ${renderBadge(code)}`}${statusCode !== null && html` ${renderBadge(statusCode)}`}${relation === 'logged' && html` ${renderBadge('From the log')}`}${uncaught !== undefined && html` ${renderBadge('nobody caught it', 'error')} ${renderBadge(uncaught)}`}${renderRole(exceptions, index)}`)}
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
  return html`<p class="frame row">${renderLocation(frame, place)} <span class="muted">${frame.function ?? 'anonymous'}</span></p>`
}

/** The packages the frames belong to, or Node. */
function origins(frames: readonly Frame[]): string {
  const names = new Set(frames.map(frame => (frame.kind === 'node' ? 'Node' : packageName(frame.file))))
  return [...names].join(', ')
}

function packageName(file: string): string {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? 'other files'
}

/** An exception and its frames as Node prints them, with shortened paths. */
export function stackTraceText(
  exception: Pick<Exception, 'class' | 'message'> & { frames: readonly Frame[] },
  root: string,
): string {
  const title = exception.message === '' ? exception.class : `${exception.class}: ${exception.message}`
  return [
    title,
    ...exception.frames.map(frame => {
      const place = locationText(frame, root)
      return frame.function === null ? `    at ${place}` : `    at ${frame.function} (${place})`
    }),
  ].join('\n')
}

/** The stack trace of every exception as text, for copying: the outermost open, the others folded. */
export function renderStackTraces(exceptions: readonly Exception[], root: string, opens: boolean): Markup {
  return html`${exceptions.map(
    (exception, index) => html`
<details class="fold trace"${opens && index === 0 && html` open`}><summary>${exception.class}</summary><pre tabindex="0"><code>${stackTraceText(exception, root)}</code></pre></details>`,
  )}`
}

/** That an error which nobody caught has ended the process. @param time milliseconds since 1970 */
export function crashText(time: number): string {
  return `The process crashed at ${formatTime(time)} of an error that nobody caught.`
}

/** The chain of exceptions, each with its message. */
export function exceptionCard(thrown: Exception, all: readonly Exception[], root: string): ToolbarCard {
  const place = thrown.frames.find(({ kind }) => kind === 'own')
  return {
    title: thrown.class,
    ...(place !== undefined && { note: locationText(place, root) }),
    rows: all.map(({ class: name, message, relation }) => [relation, `${name}: ${message}`, '']),
  }
}

/** What lists and searches know about the exceptions of a request. */
export function summariseExceptions(profile: Profile): Pick<ProfileSummary, 'exception'> {
  const thrown = profile.exceptions[worstOf(profile)]
  return { exception: thrown === undefined ? null : `${thrown.class}: ${thrown.message}`.slice(0, 200) }
}
