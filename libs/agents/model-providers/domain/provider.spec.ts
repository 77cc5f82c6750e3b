import { expect, test } from '@jest/globals';
import { readBaseUrl } from './provider.js';

test.each([
  ['https://api.anthropic.com', 'https://api.anthropic.com'],
  ['https://models.example/team/', 'https://models.example/team'],
  ['http://127.0.0.1:4000/v1', 'http://127.0.0.1:4000/v1'],
])('%s is stored as %s', (text, baseUrl) => {
  expect(readBaseUrl(text)).toEqual({ baseUrl });
});

test.each([
  'ftp://models.example',
  'models.example',
  'https://user:password@models.example',
  'https://models.example/?to=',
  'https://models.example/#x',
  'http://169.254.169.254/latest',
  'http://metadata.google.internal',
  'http://[::ffff:169.254.169.254]',
  'http://100.100.100.200',
  'http://[::ffff:100.100.100.200]',
  'http://[fd20:ce::254]',
  'http://[fe80::1]/',
])('%s is refused', (text) => {
  expect(readBaseUrl(text)).toHaveProperty('why');
});
