import { NodeFS } from '@electric-sql/pglite/nodefs'

/** Emscripten's module. PGlite's types leave out its file systems. */
interface PostgresMod {
  NODEFS: { node_ops: Operations }
}
type Mode = number

/** Emscripten's file operations that set modes. */
interface Operations {
  mknod: (parent: unknown, name: string, mode: Mode, device: number) => unknown
  setattr: (node: unknown, attributes: { mode?: Mode }) => void
}

/**
 * PGlite's file system, with files that only this user can open. PGlite itself creates files with mode 0666 and sets
 * that mode again if the umask narrowed it.
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
