import { NodeFS } from '@electric-sql/pglite/nodefs'

/** The module that Emscripten made; PGlite's types leave its file systems out. */
interface PostgresMod {
  NODEFS: { node_ops: Operations }
}
type Mode = number

/** What Emscripten does with the files of a folder, as far as it gives them modes. */
interface Operations {
  mknod: (parent: unknown, name: string, mode: Mode, device: number) => unknown
  setattr: (node: unknown, attributes: { mode?: Mode }) => void
}

/**
 * The folder that PGlite keeps its files in. It makes them with mode 0666, and sets that again where the umask takes
 * of it; here they are open to nobody but this user, whenever they are made.
 */
export class PrivateFileSystem extends NodeFS {
  override async init(...[pglite, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const restrictFiles = (module: PostgresMod) => restrict(module.NODEFS.node_ops)
    const preRun = [options.preRun, restrictFiles].flat().filter(step => step !== undefined)
    return await super.init(pglite, { ...options, preRun })
  }
}

function restrict(operations: Operations): void {
  const { mknod, setattr } = operations
  operations.mknod = (parent, name, mode, device) => mknod(parent, name, forOwner(mode), device)
  operations.setattr = (node, { mode, ...others }) => {
    setattr(node, mode === undefined ? others : { ...others, mode: forOwner(mode) })
  }
}

function forOwner(mode: Mode): Mode {
  return mode & ~0o077
}
