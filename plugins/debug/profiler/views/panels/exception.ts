import type { BuiltInPanel, Tone } from '../../panel.ts'
import type { Exception } from '../../profile.ts'
import { exceptionsMarkdown } from '../exceptions-markdown.ts'
import { renderExceptionPanel } from '../exception-panel.ts'
import { statusTone } from '../tone.ts'

/** A refusal that was meant is no failure. */
function toneOf (thrown: Exception | undefined): Tone {
  return statusTone(thrown?.statusCode ?? 500)
}

/** What was thrown, with its causes and members. */
export const exceptionPanel: BuiltInPanel<Exception[]> = {
  name: 'exception',
  label: 'Exception',
  read: ({ exceptions }) => exceptions.length === 0 ? null : exceptions,
  badge: exceptions => ({ text: String(exceptions.length), tone: toneOf(exceptions[0]) }),
  toolbarItem: ([thrown]) => thrown === undefined ? null : { label: 'Exception', value: thrown.class, tone: toneOf(thrown) },
  body: (_, context) => renderExceptionPanel(context),
  markdown: (exceptions, { root }) => exceptionsMarkdown(exceptions, root)
}
