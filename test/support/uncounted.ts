/** Arguments of env, for a Node without what tap has every process load: counting coverage triples what a start takes. */
export const uncountedNode = ['-u', 'NODE_OPTIONS', process.execPath, '--liftoff-only']
