// A real OpenID Connect provider (npm oidc-provider) with two people and one client, for
// tests/oidc_sign_in. Everybody's password is right. What a broken or hostile provider would send
// is made from a good answer: the file FORGE names how, and is read at each token answer.
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Provider } from 'oidc-provider';

const [port, redirect, forgeFile, keyName, inIdToken] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const secret = process.env.OIDC_TEST_SECRET;

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = { ...pair.privateKey.export({ format: 'jwk' }), kid: keyName, alg: 'RS256', use: 'sig' };
const groups = { alice: ['ml-team', 'everybody'], bob: ['everybody'] };

const provider = new Provider(issuer, {
  clients: [{
    client_id: 'exa', client_secret: secret, redirect_uris: [redirect],
    grant_types: ['authorization_code'], response_types: ['code'],
  }],
  jwks: { keys: [jwk] },
  cookies: { keys: ['for tests'] },
  pkce: { required: () => true, methods: ['S256'] },
  conformIdTokenClaims: inIdToken !== 'id-token',
  claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email'], groups: ['groups'] },
  scopes: ['openid', 'groups'],
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, name: `The ${id}`, groups: groups[id] ?? [] }),
  }),
});

const text = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = (header, claims) => {
  const body = `${text(header)}.${text(claims)}`;
  return `${body}.${sign('sha256', Buffer.from(body), pair.privateKey).toString('base64url')}`;
};
const forgeries = {
  none: (h, c) => `${text({ ...h, alg: 'none' })}.${text(c)}.`,
  hs256: (h, c) => {
    const body = `${text({ ...h, alg: 'HS256' })}.${text(c)}`;
    const key = createPublicKey(pair.privateKey).export({ type: 'spki', format: 'pem' });
    return `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`;
  },
  nonce: (h, c) => signed(h, { ...c, nonce: 'another' }),
  audience: (h, c) => signed(h, { ...c, aud: 'another' }),
  issuer: (h, c) => signed(h, { ...c, iss: 'http://127.0.0.1:1' }),
  expired: (h, c) => signed(h, { ...c, exp: c.iat - 120 }),
  'unknown-key': (h, c) => signed({ ...h, kid: 'nobody-knows' }, c),
};

provider.use(async (ctx, next) => {
  await next();
  const kind = existsSync(forgeFile) ? readFileSync(forgeFile, 'utf8').trim() : '';
  if (ctx.path !== '/token' || !ctx.body?.id_token || !kind) return;
  const [header, claims] = ctx.body.id_token.split('.').slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url')));
  ctx.body.id_token = forgeries[kind](header, claims);
});

provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
