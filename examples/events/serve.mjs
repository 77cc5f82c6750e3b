// Serves page.html, and hands what is below /api on to Drover: a browser lets a page talk to its own origin only.
// DROVER_URL (http://127.0.0.1:3000 by default) says where that is, PORT (8080) where to listen.
import { createReadStream } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';

const drover = process.env.DROVER_URL ?? 'http://127.0.0.1:3000';
const port = Number(process.env.PORT ?? 8080);

createServer((asked, answer) => {
  if (!asked.url.startsWith('/api/')) {
    answer.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    createReadStream(join(import.meta.dirname, 'page.html')).pipe(answer);
    return;
  }
  const { method, headers, url } = asked;
  const forwarded = request(new URL(url, drover), { method, headers }, (response) => {
    answer.writeHead(response.statusCode, response.headers);
    response.pipe(answer);
  });
  forwarded.on('error', () => answer.destroy());
  answer.on('close', () => forwarded.destroy());
  asked.pipe(forwarded);
}).listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`));
