import type { ViewContext } from '../../collect/panel.ts'
import { exceptionSectionsMarkdown } from './exception-sections-markdown.ts'
import { blocks, code, plain } from './markdown.ts'
import { statusText } from '../parts/tone.ts'

/** A failed request as Markdown, to paste into an issue or for clients that accept text/markdown. */
export function renderErrorMarkdown(context: ViewContext): string {
  const { profile, base } = context
  const message = profile.exceptions[0]?.message ?? ''
  return (
    blocks(
      `# ${statusText(profile.status)}${message === '' ? '' : `: ${plain(message)}`}`,
      `${code(`${profile.method} ${profile.url}`)}, profile ${code(`${base}/${profile.token}`)}`,
      exceptionSectionsMarkdown(context, 2),
    ) + '\n'
  )
}
