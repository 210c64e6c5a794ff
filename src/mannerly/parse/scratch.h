/* Room for the work on one page that is kept for the next: to ask for some hundred kilobytes and to
   give them back takes the C library several microseconds, each time.

   Whoever holds the interpreter's lock may take it. Whoever comes while it is taken (a callback into
   Python may hand the lock on) gets room of its own. */

#ifndef MANNERLY_SCRATCH_H
#define MANNERLY_SCRATCH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define MOST_KEPT (256 * 1024)

typedef struct {
    void *room;
    size_t size;
} Scratch;

static Scratch kept_scratch;

/* `room` is NULL if there is no memory. */
static inline Scratch take_scratch(size_t size)
{
    Scratch taken = kept_scratch;
    kept_scratch = (Scratch){NULL, 0};
    if (taken.room != NULL && taken.size >= size)
        return taken;
    PyMem_Free(taken.room);
    return (Scratch){PyMem_Malloc(size), size};
}

static inline void give_scratch(Scratch taken)
{
    if (taken.size > MOST_KEPT || taken.size < kept_scratch.size) {
        PyMem_Free(taken.room);
        return;
    }
    PyMem_Free(kept_scratch.room);
    kept_scratch = taken;
}

#endif
