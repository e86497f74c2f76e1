import type { ViewContext } from '../../collect/panel.ts'
import type { Exception, Frame, Profile } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { renderExcerpt } from './code-block.ts'
import { renderEmptyState } from './empty-state.ts'
import { foldedExceptions, tellingFrames } from './folded-exceptions.ts'
import { renderHeading, type HeadingLevel } from './heading.ts'
import { html, type Content, type Markup } from '../../base/html.ts'
import { renderKeyValueTable } from './key-value-table.ts'
import { renderLocation } from './location.ts'
import { isRoutingFailure } from './near-misses.ts'
import { count } from './units.ts'

/** How to render exceptions: the root of file names, the editor link and the heading level. */
type Place = Pick<ViewContext, 'root' | 'editorUrl'> & { level: HeadingLevel }

/** After this many application frames the source is folded, or a deep recursion would fill the page. */
const OPEN_SOURCES = 6

/** Length of the message in the summary of a folded exception. */
const FOLDED_MESSAGE = 150

/** The classes of the exception chain: the thrown one first, then its causes and members. */
export function renderClassChain(exceptions: readonly Exception[]): Markup {
  return html`<ol class="chain" aria-label="Exception chain">${exceptions.map(
    (exception, index) => html`
<li>${index > 0 && html`<span class="muted">${joint(exception, index, exceptions)}</span> `}<a href="#exception-${index + 1}">${exception.class}</a></li>`,
  )}
</ol>`
}

/** The words between two exceptions of the chain. They name the parent if it is not the exception before. */
function joint(exception: Exception, index: number, all: readonly Exception[]): string {
  const { relation, parent } = exception
  const before = all[index - 1]
  if (relation === 'member' && before?.relation === 'member' && before.parent === parent) return 'and'
  const above = parent === null || parent === index - 1 ? undefined : all[parent]
  return above === undefined ? relationText(exception) : `· ${above.class} ${relationText(exception)}`
}

/** How an exception relates to its parent, which only the thrown one lacks. */
function relationText({ relation }: Exception): string {
  return relation === 'cause' ? 'caused by' : 'with'
}

/** Every exception with its frames: the application's with their source, others folded. */
export function renderExceptions(
  { exceptions, ...profile }: Pick<Profile, 'exceptions' | 'routing' | 'status'>,
  { root, editorUrl }: Pick<ViewContext, 'root' | 'editorUrl'>,
  level: HeadingLevel,
): Markup {
  const place = { root, editorUrl, level }
  // The requested path is at fault, not the code that rejects it.
  const openSources = isRoutingFailure(profile) ? 1 : OPEN_SOURCES
  const folded = foldedExceptions(exceptions)
  return html`${exceptions.map((exception, index) =>
    folded[index] === true
      ? renderFoldedException(exception, index, exceptions, place)
      : renderException(exception, index, exceptions, level, renderFrames(exception, exceptions, openSources, place)),
  )}`
}

/** Without sources and foreign frames: hundreds of members would make the page slow to load. */
function renderFoldedException(exception: Exception, index: number, all: readonly Exception[], place: Place): Markup {
  const frames = tellingFrames(exception)
  const stack =
    frames.length === 0
      ? renderEmptyState('No stack trace.')
      : html`<ol class="frames">${frames.map(
          frame => html`
<li class="own">${renderFrameLine(frame, place)}</li>`,
        )}</ol>`
  return html`<details class="folded-exception"><summary>${exception.class}${exception.message !== '' && html` <span class="muted">${exception.message.slice(0, FOLDED_MESSAGE)}</span>`}</summary>
${renderException(exception, index, all, place.level, stack)}</details>`
}

function renderException(
  exception: Exception,
  index: number,
  all: readonly Exception[],
  level: HeadingLevel,
  stack: Markup,
): Markup {
  const properties = Object.entries(exception.properties)
  const parent = exception.parent ?? -1
  const above = all[parent]
  const origin =
    above !== undefined &&
    html`<p class="muted">${exception.relation === 'cause' ? 'Cause' : 'Member'} of <a href="#exception-${parent + 1}">${above.class}</a></p>`
  return html`<article class="exception" id="exception-${index + 1}" aria-labelledby="exception-${index + 1}-class">
<header>
${renderHeading(level, `exception-${index + 1}-class`, html`${exception.class}${exception.code !== null && html` ${renderBadge(exception.code)}`}${exception.statusCode !== null && html` ${renderBadge(exception.statusCode)}`}`)}
${origin}
<p class="message">${exception.message === '' ? html`<span class="muted">No message.</span>` : exception.message}</p>
${properties.length > 0 && html`<details><summary>${count(properties.length, 'property', 'properties')}</summary>${renderKeyValueTable(`Properties of ${exception.class}`, properties)}</details>`}
</header>
${stack}
</article>`
}

function renderFrames(
  { frames: all, parent }: Exception,
  exceptions: readonly Exception[],
  openSources: number,
  place: Place,
): Markup {
  const above = exceptions[parent ?? -1]
  if (all.length === 0) return renderEmptyState('No stack trace.')
  const frames = all.slice(0, all.length - sharedFrames(all, above?.frames ?? []))
  const shared = all.slice(frames.length)
  const items: Content[] = []
  let sources = 0
  for (let index = 0; index < frames.length;) {
    const folded = foreignFrom(frames, index)
    const frame = frames[index]
    if (folded.length > 0) {
      items.push(renderFolded(`${count(folded.length, 'frame')} in ${origins(folded)}`, folded, place))
      index += folded.length
    } else if (frame !== undefined) {
      items.push(renderOwnFrame(frame, sources++ < openSources, place))
      index++
    }
  }
  if (above !== undefined && shared.length > 0) {
    items.push(renderFolded(`${count(shared.length, 'frame')} shared with ${above.class}`, shared, place))
  }
  return html`<ol class="frames">${items}</ol>`
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

/** The consecutive frames from `start` that are not the application's. */
function foreignFrom(frames: readonly Frame[], start: number): Frame[] {
  const end = frames.findIndex((frame, index) => index >= start && frame.kind === 'own')
  return frames.slice(start, end === -1 ? frames.length : end)
}

function renderFolded(summary: string, frames: readonly Frame[], place: Place): Markup {
  return html`
<li><details class="folded"><summary>${summary}</summary><ol>${frames.map(
    frame => html`
<li>${renderFrameLine(frame, place)}</li>`,
  )}</ol></details></li>`
}

function renderOwnFrame(frame: Frame, open: boolean, place: Place): Markup {
  const line = renderFrameLine(frame, place)
  if (frame.excerpt === undefined) return html`\n<li class="own">${line}</li>`
  const source = renderExcerpt(frame.excerpt)
  return html`
<li class="own">${line}${open ? source : html`<details><summary>Source</summary>${source}</details>`}</li>`
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
