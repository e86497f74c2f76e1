import type { AskedSources } from '../ask/question.ts'
import { complain } from '../base/tell.ts'
import { storeOf } from '../options.ts'
import { builtInPanels } from '../show/panels/built-in.ts'
import { makeViewContext } from '../show/view-context.ts'
import { ProfileArchive } from '../store/profile-archive.ts'
import { OpenExchanges } from '../watch/open-exchanges.ts'

export interface StoredPlace {
  /** The folder of the profiles. */
  directory: string
  base: string
  /** The application's folder. */
  root: string
}

/** What answers are made from when the application does not run: the files of its profiles. */
export function storedSources({ directory, base, root }: StoredPlace): AskedSources {
  const store = storeOf({ directory }, complain)
  const explainPool = null
  return {
    archive: new ProfileArchive(new OpenExchanges(), store),
    base,
    explainPool,
    labels: [],
    panels: builtInPanels,
    root,
    viewContext: profile => makeViewContext(profile, { base, editorUrl: null, explainPool, root, store }),
  }
}
