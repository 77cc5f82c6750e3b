import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hash } from '@node-rs/argon2';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { newId } from '#lib/kernel';
import { chromiumOptions } from '../../../tools/shared/chromium.js';
import { aUser } from '../../support/factories.js';
import type { TestFleet } from '../../support/fleet.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PASSWORD = 'a password that is long enough';
const WAIT_MS = 120_000;
/**
 * Each theme and each width of every page once: contrast depends on the theme alone, and the layout
 * on the width. The last entry is the default of a new page.
 */
const LOOKS = [
  ['dark', 360],
  ['light', 1280],
] as const;

export interface Person {
  email: string;
  password: string;
}

interface PageOptions {
  dark?: boolean;
  width?: number;
  /** The IANA name. Default: that of the machine. */
  timeZone?: string;
}

/** Creates a user who can sign in and has a role in each workspace. */
export async function createPerson(
  { db }: TestFleet,
  workspaceIds: string[],
  role = 'OWNER',
): Promise<Person> {
  const email = `${role.toLowerCase()}-${newId()}@example.test`;
  const userId = await aUser(db.owner, { email });
  await db.owner.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
    userId,
    await hash(PASSWORD),
  ]);
  for (const workspaceId of workspaceIds)
    await db.owner.query(
      'INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, $3)',
      [workspaceId, userId, role],
    );
  return { email, password: PASSWORD };
}

/** A browser that records the errors of its pages. */
export class TestBrowser {
  readonly errors: string[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly address: string,
  ) {}

  static async start(address: string): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch(await chromiumOptions()), address);
  }

  /** Opens a page in a new context. The time limit of a wait suits the slowest machine. */
  async open(options: PageOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({
      baseURL: this.address,
      colorScheme: options.dark ? 'dark' : 'light',
      viewport: { width: options.width ?? 1280, height: 900 },
      ...(options.timeZone && { timezoneId: options.timeZone }),
    });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('console', (message) => {
      // The console reports refused requests too, and the pages show them.
      const isRefusal = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isRefusal) this.errors.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(this.address) && !request.url().startsWith('data:'))
        this.errors.push(`requested ${request.url()}`);
    });
    return page;
  }

  async openSignedIn(person: Person, options?: PageOptions): Promise<Page> {
    const page = await this.open(options);
    await page.goto('/');
    await signIn(page, person);
    return page;
  }

  stop(): Promise<void> {
    return this.browser.close();
  }
}

/**
 * Signs in a person. The server limits the sign-ins of a person per minute, so the tests of one
 * file share a page or have a person each.
 */
export async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  const [answer] = await Promise.all([
    page.waitForResponse('**/auth/login'),
    page.getByRole('button', { name: 'Sign in' }).click(),
  ]);
  if (!answer.ok()) throw new Error(`The sign-in was refused: ${await answer.text()}`);
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** Lists the findings of axe in each theme and width, one line each. */
export async function listAxeFindingsInAllLooks(page: Page): Promise<string[]> {
  const all: string[] = [];
  for (const [colorScheme, width] of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    await page.setViewportSize({ width, height: 900 });
    const findings = await listAxeFindings(page);
    all.push(...findings.map((finding) => `${colorScheme}, ${width} wide: ${finding}`));
  }
  return all;
}

/** Lists the findings of axe on the current page, one line each. */
export async function listAxeFindings(page: Page): Promise<string[]> {
  // The debugger injects axe, because the page's policy refuses foreign scripts.
  const debug = await (page.context() as BrowserContext).newCDPSession(page);
  await debug.send('Runtime.evaluate', { expression: AXE });
  await debug.detach();
  return page.evaluate(async () => {
    interface Axe {
      run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
    }
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
}
