/**
 * Ends a program that an older Node could not run, with a sentence. Its entry imports this before
 * all else: other packages fail while they are loaded.
 */
const OLDEST = { major: 22, minor: 19 };

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
  process.stderr.write(
    `Servers, workers and gateways of Drover need Node ${OLDEST.major}.${OLDEST.minor} or later, ` +
      `and this is ${process.versions.node}: install a newer Node.\n`,
  );
  process.exit(1);
}
