import type { BuiltInPanel } from '../../panel.ts'
import type { Exception } from '../../profile.ts'
import { exceptionsMarkdown } from '../exceptions-markdown.ts'
import { renderExceptionPanel } from '../exception-panel.ts'

/** What was thrown, with its causes and members. */
export const exceptionPanel: BuiltInPanel<Exception[]> = {
  name: 'exception',
  label: 'Exception',
  read: ({ exceptions }) => exceptions.length === 0 ? null : exceptions,
  badge: exceptions => ({ text: String(exceptions.length), tone: 'error' }),
  toolbarItem: ([thrown]) => thrown === undefined ? null : { label: 'Exception', value: thrown.class, tone: 'error' },
  body: (_, context) => renderExceptionPanel(context),
  markdown: (exceptions, { root }) => exceptionsMarkdown(exceptions, root)
}
