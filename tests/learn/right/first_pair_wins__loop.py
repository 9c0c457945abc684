def unique(pairs):
    kept, seen = [], set()
    for v, nv in pairs:
        if v not in seen:
            seen.add(v)
            kept.append((v, nv))
    return kept
