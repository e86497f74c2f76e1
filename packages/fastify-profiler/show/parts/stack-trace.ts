import type { Exception, Frame } from '../../base/profile.ts'
import { html, type Markup } from '../../base/html.ts'
import { locationText } from './location.ts'

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
