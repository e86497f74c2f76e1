import type { BuiltInPanel, Tone } from '../../collect/panel.ts'
import type { Exception } from '../../base/profile.ts'
import { exceptionSectionsMarkdown } from '../markdown/exception-sections-markdown.ts'
import { renderExceptionSections } from '../parts/exception-sections.ts'
import { statusTone } from '../parts/tone.ts'

/** A deliberate 4xx is a warning, not an error. */
function toneOf(thrown: Exception | undefined): Tone {
  return statusTone(thrown?.statusCode ?? 500)
}

/** The thrown exception with its causes and members. */
export const exceptionPanel: BuiltInPanel<Exception[]> = {
  name: 'exception',
  label: 'Exception',
  read: ({ exceptions }) => (exceptions.length === 0 ? null : exceptions),
  badge: exceptions => ({ text: String(exceptions.length), tone: toneOf(exceptions[0]) }),
  toolbarItem: ([thrown]) =>
    thrown === undefined ? null : { label: 'Exception', value: thrown.class, tone: toneOf(thrown) },
  body: (_, context) => renderExceptionSections(context, 3),
  markdown: (_, context) => exceptionSectionsMarkdown(context, 3),
}
