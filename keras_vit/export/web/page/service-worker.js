// Keeps what was loaded for the time without a network, and isolates the page: a plain static
// server sends no Cross-Origin-Opener-Policy and -Embedder-Policy, and threads need both.

const CACHE = "keras_vit";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || !event.request.url.startsWith(self.location.origin)) return;
  event.respondWith(answer(event.request));
});

// The network first, so that a new model is seen at once; what was kept where there is none.
async function answer(request) {
  const cache = await caches.open(CACHE);
  try {
    const found = await fetch(request);
    if (found.ok && found.status === 200) await cache.put(request, found.clone());
    return isolated(found);
  } catch (error) {
    const kept = await cache.match(request);
    if (!kept) throw error;
    return isolated(kept);
  }
}

function isolated(response) {
  if (response.status === 0) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}
