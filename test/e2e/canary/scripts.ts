import { createHash } from 'node:crypto';

/* The commands of the tasks, as Node scripts. Each leaves a proof that it had its secret. */

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const TOOLS = (proof: string) => `
  const { createHash } = require('crypto');
  const fs = require('fs');
  const prove = (text) =>
    fs.writeFileSync(${JSON.stringify(proof)}, createHash('sha256').update(text).digest('hex'));
  const tell = (line) => console.log('::drover ' + JSON.stringify(line));
  const { task } = JSON.parse(fs.readFileSync(process.env.DROVER_INPUT_FILE, 'utf8'));`;

const WITH_SECRET = (proof: string) => `${TOOLS(proof)}
  const secret = process.env.A_SECRET;`;

/** Prints the secret in every way that a task has. */
export const TELL = (proof: string) => `${WITH_SECRET(proof)}
  prove(secret);
  console.log('the secret is ' + secret);
  console.error('and again: ' + JSON.stringify({ secret, deep: [secret] }));
  tell({ progress: 50, step: 'using ' + secret, checkpoint: { password: secret, note: secret } });
  tell({ summary: 'done with ' + secret });
  tell({ result: { token: secret, note: 'used ' + secret } });`;

/**
 * Asks the server itself, as a worker would hide the secret. Ends with the answer, whose last word
 * is one.
 */
export const ASK = (proof: string) => `${WITH_SECRET(proof)}
  const answer = task.answers?.at(-1)?.answer;
  if (answer) {
    prove(answer.split(' ').at(-1));
    console.log('the answer is ' + answer);
    tell({ result: { answer, question: task.answers.at(-1).prompt } });
  } else {
    const { DROVER_API_URL: address, DROVER_RUN_ID: run, DROVER_RUN_TOKEN: token } = process.env;
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
    const body = JSON.stringify({ prompt: 'May I use ' + secret + '?', choices: ['yes', 'no'], freeText: true,
      deadlineSeconds: 600, onDeadline: 'default', default: 'no',
      checkpointData: { password: secret, note: 'asked about ' + secret } });
    fetch(address + '/runs/' + run + '/questions', { method: 'POST', headers, body })
      .then(async (answer) => console.log(answer.status + ' ' + (await answer.text())));
  }`;

/** Asks a question that the server refuses, because its choices contain the secret. */
export const ASK_FOR_IT = (proof: string) => `${WITH_SECRET(proof)}
  prove(secret);
  tell({ ask: { prompt: 'Which?', choices: ['use ' + secret, 'none'], deadlineSeconds: 600, onDeadline: 'fail' } });`;

/** Prints the input of an inbound hook, whose last word is the secret. */
export const REPEAT = (proof: string) => `${TOOLS(proof)}
  const { note } = task.inputContext;
  const word = note.split(' ').at(-1);
  prove(word);
  console.log(note);
  console.error('in short: ' + word);
  tell({ progress: 50, step: 'using ' + word });
  tell({ result: { note, word } });`;

/**
 * Asks a host through the proxy, prints its answers, and counts the secrets of the tests that a
 * session can see in files, environments and arguments.
 */
export const ASK_HOST = (host: string) => `
  const fs = require('fs');
  const { request } = require('http');
  const proxy = new URL(process.env.HTTP_PROXY);
  const ask = (path) => new Promise((resolve, reject) =>
    request({ hostname: proxy.hostname, port: proxy.port, path: 'http://${host}' + path, agent: false,
      headers: { host: 'x', authorization: 'Bearer none' } }, (answer) => {
      let body = '';
      answer.on('data', (chunk) => (body += chunk)).on('end', () => resolve(answer.statusCode + ' ' + body));
    }).on('error', reject).end());
  const filesIn = (folder) => fs.readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map(({ parentPath, name }) => parentPath + '/' + name);
  const processes = fs.readdirSync('/proc').filter((name) => Number(name) > 0);
  const texts = [
    ...filesIn(process.cwd()), ...filesIn(process.env.TMPDIR), ...filesIn('/run'),
    ...processes.flatMap((pid) => ['/proc/' + pid + '/environ', '/proc/' + pid + '/cmdline']),
  ].map((path) => { try { return fs.readFileSync(path, 'latin1'); } catch { return ''; } });
  (async () => {
    console.log('first ' + await ask('/'));
    console.log('saw ' + texts.filter((text) => /canary-[0-9a-f]{24}/.test(text)).length + ' of ' + (texts.length > 4));
    console.log('second ' + await ask('/echo'));
  })();`;
