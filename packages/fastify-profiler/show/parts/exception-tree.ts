import type { ViewContext } from '../../collect/panel.ts'
import type { Exception } from '../../base/profile.ts'
import { renderBadge } from './badge.ts'
import { depthsOf, placeOf, rootCauseOf, samePlaces } from './exception-chain.ts'
import { html, type Markup } from '../../base/html.ts'
import { renderLocation } from './location.ts'

const MAX_DEPTH = 6
const MESSAGE_LENGTH = 300

/** The errors of a chain, one line each: those that caused an error, or were gathered in it, are indented under it. */
export function renderExceptionTree(
  exceptions: readonly Exception[],
  place: Pick<ViewContext, 'root' | 'editorUrl'>,
): Markup {
  const root = rootCauseOf(exceptions)
  const depths = depthsOf(exceptions)
  const same = samePlaces(exceptions, [root, ...exceptions.keys()])
  return html`<ol class="chain" aria-label="Exception chain">${exceptions.map((exception, index) => {
    const depth = Math.min(depths[index] ?? 0, MAX_DEPTH)
    const other = same[index]
    return html`
<li${index === root && root > 0 && html` class="root"`}><span class="index">${index + 1}</span><span class="said">${depth > 0 && html`<i class="elbow depth-${depth}"></i>`}<span class="sr-only">${relationText(exception, exceptions)} </span><a class="class" href="#exception-${index + 1}">${exception.class}</a> <span class="cut">${exception.message.slice(0, MESSAGE_LENGTH)}</span>${markOf(index, root)}</span><span class="where">${other == null ? renderPlace(exception, place) : html`<span class="muted">same place as ${other + 1}</span>`}</span></li>`
  })}
</ol>`
}

function markOf(index: number, root: number): Markup | null {
  if (root === 0) return null
  if (index === root) return html` ${renderBadge('Root cause', 'error')}`
  return index === 0 ? html` ${renderBadge('Outermost')}` : null
}

function renderPlace(exception: Exception, place: Pick<ViewContext, 'root' | 'editorUrl'>): Markup {
  const frame = placeOf(exception)
  return frame === null ? html`<span class="muted">no stack trace</span>` : renderLocation(frame, place)
}

/** How an error relates to its parent, for readers that do not see the indentation. */
function relationText({ parent, relation }: Exception, all: readonly Exception[]): string {
  const above = all[parent ?? -1]
  if (above === undefined) return 'Thrown:'
  return `${relation === 'cause' ? 'Cause' : 'Member'} of ${above.class}:`
}
