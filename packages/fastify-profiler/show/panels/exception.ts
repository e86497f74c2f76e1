import type { BuiltInPanel, Tone } from '../../collect/panel.ts'
import type { Exception } from '../../base/profile.ts'
import { exceptionCard } from '../cards/exception-card.ts'
import { exceptionSectionsMarkdown } from '../markdown/exception-sections-markdown.ts'
import { renderExceptionSections } from '../parts/exception-sections.ts'
import { isRoutingFailure } from '../parts/near-misses.ts'
import { statusTone } from '../parts/tone.ts'

/** A deliberate 4xx is a warning, not an error. */
function toneOf(thrown: Exception | undefined): Tone {
  return statusTone(thrown?.statusCode ?? 500)
}

/** The thrown exception with its causes and members, or the nearest routes if no route matched. */
export const exceptionPanel: BuiltInPanel<Exception[]> = {
  name: 'exception',
  label: 'Exception',
  read: profile => (profile.exceptions.length > 0 || isRoutingFailure(profile) ? profile.exceptions : null),
  badge: ({ length, 0: thrown }) => (length === 0 ? null : { text: String(length), tone: toneOf(thrown) }),
  toolbarItem(exceptions, { root }) {
    const [thrown] = exceptions
    if (thrown === undefined) return null
    const card = exceptionCard(thrown, exceptions, root)
    return { label: 'Exception', value: thrown.class, tone: toneOf(thrown), card }
  },
  body: (_, context) => renderExceptionSections(context, 3),
  markdown: (_, context) => exceptionSectionsMarkdown(context),
}
