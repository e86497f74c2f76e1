import type { Timed } from '../../collect/exclusive-time.ts'
import type { ViewContext } from '../../collect/panel.ts'

/** What took time, and how places are shown. */
export interface TimedContext extends Pick<ViewContext, 'root' | 'editorUrl'> {
  profile: Timed
}
