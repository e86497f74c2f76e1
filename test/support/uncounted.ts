/** Arguments of env that start Node without tap's hooks: counting coverage triples the time of a start. */
export const uncountedNode = ['-u', 'NODE_OPTIONS', process.execPath, '--liftoff-only']
